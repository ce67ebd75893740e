package io.pushplanet.cm.delivery;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.WireForm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// Sends one gateway the outcomes of its frames. Those that have gathered since the loop's last
/// turn leave in one batch, at QoS 0: an outcome that is lost with its connection would be of no
/// use, because the gateway redelivers every target that it has no answer for. The delivered
/// targets of a broadcast gather for [#GATHER], or until the node stops. Confined to the link's
/// event loop, except [#answer] and [#delivered].
final class OutcomeBatches implements Answers {
  /// Devices acknowledge a broadcast in each turn of each loop, and a message to the gateway in
  /// each turn would cost both sides more than its outcomes.
  static final Duration GATHER = Duration.ofMillis(5);

  private static final int OUTCOMES_PER_MESSAGE = 1_000;

  private final Link link;
  private final DeliveryMetrics metrics;
  private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean flushScheduled = new AtomicBoolean();
  private final AtomicBoolean gathering = new AtomicBoolean();
  private String topic = "";
  private boolean subscribed;

  /// @param outcome null for a delivered target of a broadcast
  private record Answer(String frame, int target, @Nullable Outcome outcome) {}

  /// The outcomes that have gathered for one frame.
  private static final class Gathered {
    final List<Outcome> outcomes = new ArrayList<>();
    final BitSet delivered = new BitSet();
  }

  OutcomeBatches(Link link, DeliveryMetrics metrics) {
    this.link = link;
    this.metrics = metrics;
  }

  /// The gateway with this client id has connected.
  void to(String gateway) {
    topic = NodeFrame.OUTCOMES_TOPIC + gateway;
  }

  /// @return whether this is the gateway's own topic, which it is sent outcomes on from now on
  boolean subscribe(String filter) {
    boolean own = filter.equals(topic);
    subscribed |= own;
    return own;
  }

  /// @return whether the gateway was subscribed to this filter
  boolean unsubscribe(String filter) {
    boolean own = subscribed && filter.equals(topic);
    subscribed &= !own;
    return own;
  }

  /// The connection has ended.
  void end() {
    subscribed = false;
  }

  @Override
  public void answer(String frame, Outcome outcome) {
    answers.add(new Answer(frame, outcome.target(), outcome));
    if (flushScheduled.compareAndSet(false, true)) {
      link.loop()
          .execute(() -> {
            flushScheduled.set(false);
            sendGathered();
          });
    }
  }

  @Override
  public void delivered(String frame, int target) {
    answers.add(new Answer(frame, target, null));
    if (gathering.compareAndSet(false, true)) {
      link.loop().execute(this::gather);
    }
  }

  private void gather() {
    link.loop()
        .executeAfter(
            GATHER,
            () -> {
              gathering.set(false);
              sendGathered();
            });
  }

  /// Sends the outcomes that have gathered so far, without waiting for others.
  void sendGathered() {
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
            topic,
            new Binary(WireForm.write(outcomes)),
            QoS.AT_MOST_ONCE,
            false,
            false,
            0,
            MqttProperties.NONE));
  }
}
