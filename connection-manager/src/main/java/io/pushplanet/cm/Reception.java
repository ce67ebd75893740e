package io.pushplanet.cm;

import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.AdmissionMetrics;
import io.pushplanet.cm.admission.AdmissionOutcome;
import io.pushplanet.cm.admission.DeniedPasswordCache;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.handshake.DeviceHandshake;
import io.pushplanet.cm.handshake.HandshakeOutcome;
import io.pushplanet.cm.handshake.HandshakeOutcome.Welcome;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.session.SessionTable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Decides which devices may connect: reads the CONNECT and checks its credential
/// ([DeviceHandshake]) if there is room ([Admission]). A refused client is told why and, where it
/// helps, when to come back. Holds no state of a connection; called on the connection's event loop.
public final class Reception {
  private final DeviceHandshake handshake;
  private final Admission admission;
  private final AdmissionMetrics metrics;
  private final SessionTable sessions;
  private final Registrar registrar;
  private final DeniedPasswordCache deniedPasswords = new DeniedPasswordCache();

  public Reception(
      DeviceHandshake handshake,
      Admission admission,
      AdmissionMetrics metrics,
      SessionTable sessions,
      Registrar registrar) {
    this.handshake = handshake;
    this.admission = admission;
    this.metrics = metrics;
    this.sessions = sessions;
    this.registrar = registrar;
  }

  /// Returns null when the client was refused.
  @Nullable Welcome receive(Link link, Connect connect) {
    long now = link.loop().nowNanos();
    if (admission.ask(link.listenerKind(), link.source(), now)
        instanceof AdmissionOutcome.Refused refused) {
      refuse(link, connect, refused.reason(), told(refused));
      return null;
    }
    switch (handshake.check(connect)) {
      case HandshakeOutcome.Refused(ReasonCode reason, String why) -> {
        if (reason == ReasonCode.BAD_USER_NAME_OR_PASSWORD) {
          admission.failed(link.source(), now);
        }
        refuse(link, connect, reason, MqttProperties.with(PropertyId.REASON_STRING, why));
        return null;
      }
      case Welcome known -> {
        if (deniedPasswords.isDenied(known.device(), known.passwordEnds(), now)) {
          refuseDenied(link, connect);
          return null;
        }
        return admit(link, known);
      }
    }
  }

  /// A device that is already connected needs no further room; only its credential tells it apart
  /// from a new one. An admitted device that waits for the directory takes up room already: in a
  /// storm on a slow Redis there are tens of thousands of these.
  private @Nullable Welcome admit(Link link, Welcome known) {
    boolean isHere = sessions.find(known.device()) != null;
    int here = sessions.size() + registrar.arriving();
    if (admission.askForRoom(isHere, here, link.listenerKind())
        instanceof AdmissionOutcome.Refused refused) {
      metrics.full();
      answer(link, known.connect(), refused.reason(), told(refused));
      return null;
    }
    return known.with(link.advised(known.connect(), known.keepAlive()));
  }

  /// Returns the properties of the CONNACK to a device that has its session.
  MqttProperties welcome(Welcome known) {
    metrics.connected();
    return handshake.welcome(known);
  }

  /// The queue for the directory is full.
  void crowded(Link link, Connect connect) {
    refuse(
        link,
        connect,
        ReasonCode.SERVER_BUSY,
        later("too many devices connect at once", admission.retryAfter()).build());
  }

  /// The password is from before the device was deleted. This does not count as a failure of the
  /// client's address: the password is signed, so the client does not guess, and a carrier's NAT
  /// address may be shared by many deleted devices of one app and by all others.
  void denied(Link link, Welcome known) {
    deniedPasswords.denied(known.device(), known.passwordEnds(), link.loop().nowNanos());
    refuseDenied(link, known.connect());
  }

  private void refuseDenied(Link link, Connect connect) {
    metrics.deviceDeleted();
    answer(
        link,
        connect,
        ReasonCode.NOT_AUTHORIZED,
        MqttProperties.with(
            PropertyId.REASON_STRING,
            "the device was deleted, or its MQTT channel switched off, since it was given this password: register it again"));
  }

  /// Another connection of the device, here or on another node, was faster; or the device was
  /// deleted just now.
  void outrun(Link link, Connect connect) {
    refuse(
        link,
        connect,
        ReasonCode.SERVER_BUSY,
        MqttProperties.with(
            PropertyId.REASON_STRING, "the device connected again meanwhile, or was deleted"));
  }

  private static MqttProperties told(AdmissionOutcome.Refused refused) {
    MqttProperties.Builder properties = later(refused.why(), refused.retryAfter());
    refused.serverReference().ifPresent(to -> properties.text(PropertyId.SERVER_REFERENCE, to));
    return properties.build();
  }

  /// MQTT 5 has no property for the time to come back: a user property says it to programs, and the
  /// reason string to people.
  private static MqttProperties.Builder later(String why, Duration retryAfter) {
    long seconds = retryAfter.toSeconds();
    if (seconds == 0) {
      return MqttProperties.builder().text(PropertyId.REASON_STRING, why);
    }
    return MqttProperties.builder()
        .text(PropertyId.REASON_STRING, why + "; try again in " + seconds + " s")
        .user("retry-after", Long.toString(seconds));
  }

  private void refuse(Link link, Connect connect, ReasonCode reason, MqttProperties properties) {
    metrics.refused(reason);
    answer(link, connect, reason, properties);
  }

  private static void answer(
      Link link, Connect connect, ReasonCode reason, MqttProperties properties) {
    link.refuseConnect(
        connect.version(),
        reason,
        DeviceHandshake.hasRoomForReasons(connect) ? properties : MqttProperties.NONE);
  }
}
