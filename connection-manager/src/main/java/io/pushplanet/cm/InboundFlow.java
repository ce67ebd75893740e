package io.pushplanet.cm;

import io.pushplanet.cm.admission.AdmissionMetrics;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.transport.gate.DeviceRates;
import io.pushplanet.cm.transport.gate.Rate;
import io.pushplanet.cm.uplink.InboundWindow;
import io.pushplanet.cm.uplink.UplinkMetrics;
import io.pushplanet.cm.uplink.UplinkOutcome;
import io.pushplanet.cm.uplink.Uplinks;
import io.pushplanet.common.session.DeviceKey;

/// What one device publishes: receipts and uplinks become events ([Uplinks]) and are acknowledged
/// once the broker has confirmed them.
///
/// A device is not read while its [InboundWindow] is full, or while it publishes faster than its
/// rate. At QoS 0 this lasts for a few seconds; then the device is read for one second, so that its
/// other packets are heard, and its surplus publishes are dropped.
///
/// The object is needed only while an event is unconfirmed or the rate has not recovered; an object
/// at rest is as good as a new one. Confined to the connection's event loop.
public final class InboundFlow {
  /// There is one sweep per second; clients wait longer than this for a PINGRESP.
  private static final int MAX_SLOWED_SWEEPS = 5;

  private final Link link;
  private final Shared shared;
  private final InboundWindow window;
  private final Rate rate;
  private boolean slowed;
  // Counts consecutive sweeps.
  private int slowedSweeps;

  /// What all devices of a node have in common.
  ///
  /// @param rates limits for what devices publish
  /// @param most the Receive Maximum that clients are told: how many publishes of one device may be
  ///     unacknowledged
  public record Shared(
      Uplinks uplinks,
      DeviceRates rates,
      UplinkMetrics uplinkMetrics,
      AdmissionMetrics admissionMetrics,
      int most) {}

  /// @param rate of the device's publishes, valid or not
  InboundFlow(Link link, Shared shared, Rate rate) {
    this.link = link;
    this.shared = shared;
    this.window = new InboundWindow(shared.most());
    this.rate = rate;
  }

  boolean isAtRest(long nowNanos) {
    return window.isEmpty() && rate.isRested(nowNanos);
  }

  /// Remembers how much the device has published.
  Rate rate() {
    return rate;
  }

  /// Stops reading the device until its rate allows more.
  void holdBack() {
    slowed = true;
    shared.uplinkMetrics().slowed();
    link.watch();
  }

  void published(DeviceKey device, MqttPacket.Publish publish) {
    long nowNanos = link.loop().nowNanos();
    boolean waits = publish.qos() != QoS.AT_MOST_ONCE || slowedSweeps < MAX_SLOWED_SWEEPS;
    if (!waits && rate.waitNanos(nowNanos) > 0) {
      shared.admissionMetrics().refused(ReasonCode.MESSAGE_RATE_TOO_HIGH);
      return;
    }
    rate.spend(nowNanos);
    if (waits && !slowed && rate.waitNanos(nowNanos) > 0) {
      holdBack();
    }
    take(device, publish, nowNanos);
    if (link.isOpen() && isHeldBack()) {
      link.pauseReading();
      link.watch();
    }
  }

  private void take(DeviceKey device, MqttPacket.Publish publish, long nowNanos) {
    if (publish.qos() == QoS.AT_LEAST_ONCE && window.isExhausted()) {
      violation(
          ReasonCode.RECEIVE_MAXIMUM_EXCEEDED, "more than " + window.most() + " unacknowledged");
      return;
    }
    if (publish.qos() == QoS.AT_MOST_ONCE && window.isOverrun()) {
      shared.admissionMetrics().refused(ReasonCode.QUOTA_EXCEEDED);
      return;
    }
    int packetId = publish.packetId();
    window.arrived(packetId, nowNanos);
    UplinkOutcome outcome =
        shared
            .uplinks()
            .take(device, publish, () -> link.loop().execute(() -> confirmed(packetId)));
    switch (outcome) {
      case UplinkOutcome.Taken _ -> {}
      case UplinkOutcome.Refused(ReasonCode reason, String why) -> refuse(publish, reason, why);
      case UplinkOutcome.Violation(ReasonCode reason, String why) -> violation(reason, why);
    }
  }

  private void refuse(MqttPacket.Publish publish, ReasonCode reason, String why) {
    boolean asksForAck = publish.qos() == QoS.AT_LEAST_ONCE;
    int packetId = publish.packetId();
    if (asksForAck && link.isV5()) {
      shared.admissionMetrics().refused(reason);
      MqttProperties told =
          link.explains()
              ? MqttProperties.with(PropertyId.REASON_STRING, why)
              : MqttProperties.NONE;
      window.done(packetId, () -> link.send(new MqttPacket.PubAck(packetId, reason, told)));
    } else if (reason == ReasonCode.PAYLOAD_FORMAT_INVALID) {
      // A 3.1.1 client cannot be told the reason, and after a close it would send the same payload
      // again and again.
      shared.admissionMetrics().refused(reason);
      confirmed(packetId);
    } else if (reason == ReasonCode.QUOTA_EXCEEDED && !asksForAck) {
      shared.admissionMetrics().refused(reason);
      confirmed(packetId);
    } else {
      violation(reason, why);
    }
  }

  private void confirmed(int packetId) {
    if (!link.isOpen()) {
      return;
    }
    window.done(packetId, () -> link.send(new MqttPacket.PubAck(packetId, ReasonCode.SUCCESS)));
    if (!isHeldBack()) {
      link.resumeReading();
    }
  }

  private boolean isHeldBack() {
    return slowed || isFull();
  }

  /// A 3.1.1 client knows no Receive Maximum, and none applies at QoS 0, so such a client is slowed
  /// down instead. At QoS 0 this ends after a few seconds, because the DISCONNECT of a device that
  /// is not read would not be heard.
  private boolean isFull() {
    return window.isHeldBack() || (!link.isV5() && window.isExhausted());
  }

  private void violation(ReasonCode reason, String why) {
    shared.admissionMetrics().refused(reason);
    link.disconnect(reason, why);
  }

  /// @return whether it must be swept again in a second
  boolean swept(long nowNanos) {
    slowedSweeps = slowed ? slowedSweeps + 1 : 0;
    if (!slowed && !window.isHeldBack()) {
      return false;
    }
    slowed &= rate.waitNanos(nowNanos) > 0;
    window.swept(nowNanos);
    if (!isHeldBack()) {
      link.resumeReading();
    }
    return true;
  }
}
