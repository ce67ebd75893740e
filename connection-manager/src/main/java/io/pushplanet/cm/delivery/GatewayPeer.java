package io.pushplanet.cm.delivery;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.KeepAlive;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.mqtt.link.MqttPeer;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A gateway on the trusted listener. Confined to its event loop.
///
/// Its frames are JSON of up to 1 MB. A virtual thread reads the large ones, one after the other,
/// so that the loop's other connections do not wait. A frame is acknowledged (PUBACK) when its
/// targets have been handed to their sessions; the outcomes follow ([OutcomeBatches]).
final class GatewayPeer implements MqttPeer {
  private static final Logger LOG = LoggerFactory.getLogger(GatewayPeer.class);

  /// A frame with a message to one or two devices. The loop reads it in about 20 us; handing it to
  /// another thread and back costs as much, and takes milliseconds while all processors are busy.
  private static final int READ_AT_ONCE_BYTES = 4 * 1024;

  /// Frames are the gateway's own JSON around payloads of 4 KB; topic and properties need little
  /// more.
  private static final PacketLimits LIMITS =
      PacketLimits.UNAUTHENTICATED.withPacketBytes(NodeFrame.MAX_BYTES + 4 * 1024);

  private final Link link;
  private final DeliverySettings settings;
  private final DeliveryMetrics metrics;
  private final FrameDispatch dispatch;
  private final BroadcastDispatch broadcasts;
  private final Consumer<DeviceKey> drain;
  private final Executor readers;
  private final ArrayDeque<MqttPacket.Publish> waiting = new ArrayDeque<>();
  private final OutcomeBatches outcomes;
  // The gateway's client id; null until its CONNECT is accepted.
  private @Nullable String gateway;
  private boolean reading;

  /// @param drain called for each device whose inbox has messages
  /// @param readers runs the reading of frames on virtual threads
  GatewayPeer(
      Link link,
      DeliverySettings settings,
      DeliveryMetrics metrics,
      FrameDispatch dispatch,
      BroadcastDispatch broadcasts,
      Consumer<DeviceKey> drain,
      Executor readers) {
    this.link = link;
    this.settings = settings;
    this.metrics = metrics;
    this.dispatch = dispatch;
    this.broadcasts = broadcasts;
    this.drain = drain;
    this.readers = readers;
    this.outcomes = new OutcomeBatches(link, metrics);
  }

  @Override
  public void packet(MqttPacket packet) {
    switch (packet) {
      case MqttPacket.Connect connect -> connect(connect);
      case MqttPacket.Publish publish -> publish(publish);
      case MqttPacket.Subscribe subscribe -> subscribe(subscribe);
      case MqttPacket.Unsubscribe unsubscribe -> unsubscribe(unsubscribe);
      case MqttPacket.PingReq() -> link.send(new MqttPacket.PingResp());
      case MqttPacket.Disconnect _ -> link.close();
      case MqttPacket.PubAck _ -> {}
      case MqttPacket.ConnAck _,
          MqttPacket.PubRec _,
          MqttPacket.PubRel _,
          MqttPacket.PubComp _,
          MqttPacket.SubAck _,
          MqttPacket.UnsubAck _,
          MqttPacket.PingResp _,
          MqttPacket.Auth _ ->
          link.disconnect(ReasonCode.PROTOCOL_ERROR, "not expected here");
    }
  }

  private void connect(MqttPacket.Connect connect) {
    if (gateway != null) {
      link.disconnect(ReasonCode.PROTOCOL_ERROR, "a second CONNECT");
      return;
    }
    if (connect.clientId().isEmpty()) {
      link.refuseConnect(
          connect.version(), ReasonCode.CLIENT_IDENTIFIER_NOT_VALID, MqttProperties.NONE);
      return;
    }
    if (!knows(connect)) {
      metrics.refused.count(link.source(), link.loop().nowNanos());
      link.refuseConnect(
          connect.version(), ReasonCode.BAD_USER_NAME_OR_PASSWORD, MqttProperties.NONE);
      return;
    }
    gateway = connect.clientId();
    metrics.gateways.incrementAndGet();
    outcomes.to(connect.clientId());
    link.accept(connect.version(), LIMITS, new KeepAlive(connect.keepAliveSeconds(), false), true);
    MqttProperties told =
        connect.version() == MqttVersion.V5
            ? MqttProperties.builder()
                .number(PropertyId.MAXIMUM_QOS, 1)
                .number(PropertyId.RETAIN_AVAILABLE, 0)
                .number(PropertyId.RECEIVE_MAXIMUM, settings.framesWaiting())
                .number(PropertyId.MAXIMUM_PACKET_SIZE, LIMITS.packetBytes())
                .build()
            : MqttProperties.NONE;
    link.send(new MqttPacket.ConnAck(false, 0, told));
    LOG.info("event=gateway_connected gateway={}", connect.clientId());
  }

  private boolean knows(MqttPacket.Connect connect) {
    String user = connect.userName();
    Binary password = connect.password();
    byte[] expected = settings.password().reveal().getBytes(StandardCharsets.UTF_8);
    return user != null
        && password != null
        && user.equals(settings.user())
        && MessageDigest.isEqual(expected, password.bytes());
  }

  private void publish(MqttPacket.Publish publish) {
    if (publish.qos() == QoS.EXACTLY_ONCE) {
      link.disconnect(ReasonCode.QOS_NOT_SUPPORTED, "publish with QoS 1");
      return;
    }
    waiting.add(publish);
    readNext();
    // After readNext, because a frame that is read at once must not resume the link that it came
    // from.
    if (waiting.size() >= settings.framesWaiting()) {
      link.pauseReading();
    }
  }

  private void readNext() {
    while (!reading) {
      MqttPacket.Publish next = waiting.poll();
      if (next == null) {
        return;
      }
      if (next.payload().size() <= READ_AT_ONCE_BYTES) {
        acknowledge(next, read(next));
      } else {
        readElsewhere(next);
      }
    }
  }

  private void readElsewhere(MqttPacket.Publish publish) {
    reading = true;
    readers.execute(() -> {
      ReasonCode reason = read(publish);
      link.loop()
          .execute(() -> {
            reading = false;
            acknowledge(publish, reason);
            readNext();
          });
    });
  }

  private void acknowledge(MqttPacket.Publish publish, ReasonCode reason) {
    if (publish.qos() == QoS.AT_LEAST_ONCE) {
      link.send(new MqttPacket.PubAck(publish.packetId(), reason));
    }
    if (waiting.size() < settings.framesWaiting()) {
      link.resumeReading();
    }
  }

  private ReasonCode read(MqttPacket.Publish publish) {
    try {
      switch (publish.topic()) {
        case NodeFrame.DELIVER_TOPIC ->
            dispatch.dispatch(WireForm.read(publish.payload().bytes(), NodeFrame.class), outcomes);
        case NodeBroadcast.TOPIC ->
            broadcasts.dispatch(
                WireForm.read(publish.payload().bytes(), NodeBroadcast.class), outcomes);
        case NodeFrame.DRAIN_TOPIC ->
            WireForm.read(publish.payload().bytes(), NodeFrame.Drain.class)
                .devices()
                .forEach(device -> drain.accept(new DeviceKey(device.app(), device.device())));
        default -> {
          return ReasonCode.NOT_AUTHORIZED;
        }
      }
      return ReasonCode.SUCCESS;
    } catch (MalformedWire malformed) {
      metrics.malformed.increment();
      LOG.warn(
          "event=frame_malformed bytes={} reason=\"{}\"",
          publish.payload().size(),
          malformed.getMessage());
      return ReasonCode.PAYLOAD_FORMAT_INVALID;
    } catch (RuntimeException | Error bug) {
      metrics.malformed.increment();
      LOG.error("event=frame_error bytes={}", publish.payload().size(), bug);
      return ReasonCode.UNSPECIFIED_ERROR;
    }
  }

  private void subscribe(MqttPacket.Subscribe subscribe) {
    var codes = new ArrayList<Integer>();
    for (SubscriptionRequest request : subscribe.requests()) {
      if (outcomes.subscribe(request.filter())) {
        codes.add(0);
      } else {
        codes.add(
            link.isV5() ? ReasonCode.NOT_AUTHORIZED.code() : ReasonCode.V3_SUBSCRIPTION_FAILED);
      }
    }
    link.send(new MqttPacket.SubAck(subscribe.packetId(), codes, MqttProperties.NONE));
  }

  private void unsubscribe(MqttPacket.Unsubscribe unsubscribe) {
    var codes = new ArrayList<Integer>();
    for (String filter : unsubscribe.filters()) {
      codes.add(outcomes.unsubscribe(filter) ? 0 : ReasonCode.NO_SUBSCRIPTION_EXISTED.code());
    }
    link.send(new MqttPacket.UnsubAck(unsubscribe.packetId(), codes, MqttProperties.NONE));
  }

  @Override
  public void refused(ReasonCode reason, String why) {
    metrics.violations.increment();
    if (gateway != null) {
      LOG.warn("event=gateway_link_refused reason={} detail=\"{}\"", reason, why);
    }
  }

  @Override
  public void flushed() {}

  @Override
  public boolean swept(long nowNanos) {
    return true;
  }

  @Override
  public void stopping() {
    outcomes.sendGathered();
  }

  @Override
  public void closed() {
    if (gateway != null) {
      metrics.gateways.decrementAndGet();
      LOG.info("event=gateway_disconnected gateway={}", gateway);
    }
    outcomes.end();
    waiting.clear();
  }
}
