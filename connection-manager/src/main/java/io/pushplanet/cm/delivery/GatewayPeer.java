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
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A gateway on the trusted listener. Confined to its event loop, except [#answer].
///
/// Its frames are JSON of up to 1 MB. A virtual thread reads the large ones, one after the other,
/// so that the loop's other connections do not wait. A frame is acknowledged (PUBACK) when its
/// targets have been handed to their sessions.
///
/// Outcomes that have gathered since the loop's last turn leave in one batch, at QoS 0: an outcome
/// that is lost with its connection would be of no use, because the gateway redelivers every target
/// that it has no answer for.
final class GatewayPeer implements MqttPeer, Answers {
  private static final Logger LOG = LoggerFactory.getLogger(GatewayPeer.class);
  private static final int OUTCOMES_PER_MESSAGE = 1_000;

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
  private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean flushScheduled = new AtomicBoolean();
  private String outcomesTopic = "";
  private boolean connected;
  private boolean subscribed;
  private boolean reading;

  /// @param outcome null for a delivered target of a broadcast
  private record Answer(String frame, int target, @Nullable Outcome outcome) {}

  /// The outcomes that have gathered for one frame.
  private static final class Gathered {
    final List<Outcome> outcomes = new ArrayList<>();
    final BitSet delivered = new BitSet();
  }

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
    if (connected) {
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
    connected = true;
    metrics.gateways.incrementAndGet();
    outcomesTopic = NodeFrame.OUTCOMES_TOPIC + connect.clientId();
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
            dispatch.dispatch(WireForm.read(publish.payload().bytes(), NodeFrame.class), this);
        case NodeBroadcast.TOPIC ->
            broadcasts.dispatch(
                WireForm.read(publish.payload().bytes(), NodeBroadcast.class), this);
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
      boolean own = request.filter().equals(outcomesTopic);
      subscribed |= own;
      codes.add(own ? 0 : link.isV5() ? ReasonCode.NOT_AUTHORIZED.code() : 0x80);
    }
    link.send(new MqttPacket.SubAck(subscribe.packetId(), codes, MqttProperties.NONE));
  }

  private void unsubscribe(MqttPacket.Unsubscribe unsubscribe) {
    var codes = new ArrayList<Integer>();
    for (String filter : unsubscribe.filters()) {
      boolean own = filter.equals(outcomesTopic) && subscribed;
      codes.add(own ? 0 : ReasonCode.NO_SUBSCRIPTION_EXISTED.code());
      subscribed &= !own;
    }
    link.send(new MqttPacket.UnsubAck(unsubscribe.packetId(), codes, MqttProperties.NONE));
  }

  @Override
  public void answer(String frame, Outcome outcome) {
    answer(new Answer(frame, outcome.target(), outcome));
  }

  @Override
  public void delivered(String frame, int target) {
    answer(new Answer(frame, target, null));
  }

  private void answer(Answer answer) {
    answers.add(answer);
    if (flushScheduled.compareAndSet(false, true)) {
      link.loop().execute(this::sendAnswers);
    }
  }

  private void sendAnswers() {
    flushScheduled.set(false);
    Map<String, Gathered> byFrame = new LinkedHashMap<>();
    Answer answer;
    while ((answer = answers.poll()) != null) {
      Gathered gathered = byFrame.computeIfAbsent(answer.frame(), _ -> new Gathered());
      if (answer.outcome() == null) {
        gathered.delivered.set(answer.target());
      } else {
        gathered.outcomes.add(answer.outcome());
      }
    }
    byFrame.forEach((frame, gathered) -> {
      if (!gathered.delivered.isEmpty()) {
        send(
            new NodeOutcomes(frame, List.of(), NodeOutcomes.runs(gathered.delivered)),
            gathered.delivered.cardinality());
      }
      List<Outcome> outcomes = gathered.outcomes;
      for (int from = 0; from < outcomes.size(); from += OUTCOMES_PER_MESSAGE) {
        int to = Math.min(outcomes.size(), from + OUTCOMES_PER_MESSAGE);
        send(new NodeOutcomes(frame, outcomes.subList(from, to)), to - from);
      }
    });
  }

  private void send(NodeOutcomes outcomes, int count) {
    if (!subscribed || !link.isOpen()) {
      metrics.unheard.increment(count);
      return;
    }
    link.send(
        new MqttPacket.Publish(
            outcomesTopic,
            new Binary(WireForm.write(outcomes)),
            QoS.AT_MOST_ONCE,
            false,
            false,
            0,
            MqttProperties.NONE));
  }

  @Override
  public void refused(ReasonCode reason, String why) {
    metrics.violations.increment();
    if (connected) {
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
  public void closed() {
    if (connected) {
      metrics.gateways.decrementAndGet();
      LOG.info("event=gateway_disconnected topic={}", outcomesTopic);
    }
    subscribed = false;
    waiting.clear();
  }
}
