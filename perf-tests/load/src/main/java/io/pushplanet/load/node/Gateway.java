package io.pushplanet.load.node;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.load.fleet.Device;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.eclipse.paho.mqttv5.client.IMqttMessageListener;
import org.eclipse.paho.mqttv5.client.MqttClient;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttSubscription;

/// A gateway on a node's trusted listener, like the worker: it sends frames of 500 targets and
/// counts outcomes.
public final class Gateway implements Sender {
  /// The number of devices in one frame.
  public static final int TARGETS_PER_FRAME = 500;

  // The number of recipients that the worker's lanes join in one AMQP message.
  private static final int DEVICES_PER_BROADCAST = 4_000;

  private static final Duration PATIENCE = Duration.ofSeconds(25);
  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final Duration TIME_TO_LIVE = Duration.ofHours(1);

  private final Clock clock = Clock.systemUTC();
  private final MessageIds ids = new MessageIds(clock, new SecureRandom());
  private final MqttClient client;
  private final LongAdder delivered = new LongAdder();
  private final LongAdder otherwise = new LongAdder();
  private final LongAdder broadcastTo = new LongAdder();
  private final Map<String, OpenFrame> open = new ConcurrentHashMap<>();

  /// A message for one device.
  public record Addressed(MessageId id, Device device) {}

  /// Takes the outcome of each message that was sent with it. Called on the client's thread: must
  /// not block.
  @FunctionalInterface
  public interface Outcomes {
    void told(MessageId id, Result result);
  }

  /// A frame of which some messages have no outcome.
  private record OpenFrame(List<Addressed> messages, Outcomes outcomes, AtomicInteger left) {
    OpenFrame(List<Addressed> messages, Outcomes outcomes) {
      this(List.copyOf(messages), outcomes, new AtomicInteger(messages.size()));
    }

    /// @return whether it was the last one
    boolean told(NodeOutcomes.Outcome outcome) {
      outcomes.told(messages.get(outcome.target()).id(), outcome.result());
      return left.decrementAndGet() == 0;
    }
  }

  Gateway(String uri, String password) {
    String id = "bench-" + ids.next().value().substring(24);
    try {
      client = new MqttClient(uri, id, new MemoryPersistence());
      MqttConnectionOptions options = new MqttConnectionOptions();
      options.setUserName("gateway");
      options.setPassword(password.getBytes(StandardCharsets.UTF_8));
      client.connect(options);
      client.subscribe(
          new MqttSubscription[] {new MqttSubscription(NodeFrame.OUTCOMES_TOPIC + id, 1)},
          new IMqttMessageListener[] {(topic, message) -> heard(message.getPayload())});
    } catch (MqttException e) {
      throw new IllegalStateException("the gateway listener at " + uri + " does not take us", e);
    }
  }

  private void heard(byte[] payload) {
    NodeOutcomes some = WireForm.read(payload, NodeOutcomes.class);
    OpenFrame frame = open.get(some.frame());
    for (NodeOutcomes.Outcome outcome : some.each()) {
      (outcome.result() == Result.DELIVERED ? delivered : otherwise).increment();
      if (frame != null && frame.told(outcome)) {
        open.remove(some.frame());
      }
    }
  }

  /// Sends a message of its own to each of these devices, in one frame.
  ///
  /// @param some at most [#TARGETS_PER_FRAME]
  public void send(List<Addressed> some, Outcomes outcomes) {
    Instant now = clock.instant();
    List<NodeFrame.Message> messages =
        some.stream()
            .map(one ->
                new NodeFrame.Message(
                    one.id(), now.plus(TIME_TO_LIVE), Payload.of(one.id().value())))
            .toList();
    List<NodeFrame.Target> targets =
        IntStream.range(0, some.size())
            .mapToObj(index -> {
              Device device = some.get(index).device();
              return new NodeFrame.Target(device.app(), device.id(), index, null);
            })
            .toList();
    var frame = new NodeFrame(ids.next().value(), now.plus(PATIENCE), messages, targets);
    open.put(frame.frame(), new OpenFrame(some, outcomes));
    try {
      client.publish(NodeFrame.DELIVER_TOPIC, WireForm.write(frame), 1, false);
    } catch (MqttException e) {
      throw new IllegalStateException("the node does not take frames", e);
    }
  }

  @Override
  public void send(List<Device> devices) {
    Instant now = clock.instant();
    var id = ids.next();
    var message = new NodeFrame.Message(id, now.plus(TIME_TO_LIVE), Payload.of(id.value()));
    try {
      for (int from = 0; from < devices.size(); from += TARGETS_PER_FRAME) {
        List<NodeFrame.Target> targets =
            devices.subList(from, Math.min(devices.size(), from + TARGETS_PER_FRAME)).stream()
                .map(device -> new NodeFrame.Target(device.app(), device.id(), 0, null))
                .toList();
        var frame =
            new NodeFrame(id.value() + "-" + from, now.plus(PATIENCE), List.of(message), targets);
        client.publish(NodeFrame.DELIVER_TOPIC, WireForm.write(frame), 1, false);
      }
    } catch (MqttException e) {
      throw new IllegalStateException("the node does not take frames", e);
    }
  }

  /// Waits until this number of targets has an outcome, for [#PATIENCE] at most.
  public void awaitOutcomes(long targets) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (delivered() + otherwise() < targets && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  /// One message to all of them, in the worker's form for very many devices of a node.
  public void broadcast(List<Device> devices) {
    Instant now = clock.instant();
    var id = ids.next();
    var message = new NodeFrame.Message(id, now.plus(TIME_TO_LIVE), Payload.of(id.value()));
    try {
      for (int from = 0; from < devices.size(); from += DEVICES_PER_BROADCAST) {
        List<Device> some =
            devices.subList(from, Math.min(devices.size(), from + DEVICES_PER_BROADCAST));
        var frame =
            new NodeBroadcast(
                id.value() + "-" + from,
                now.plus(PATIENCE),
                message,
                some.getFirst().app(),
                some.stream().map(Device::id).toList(),
                some.stream().map(device -> 0L).toList());
        client.publish(NodeBroadcast.TOPIC, WireForm.write(frame), 1, false);
        broadcastTo.add(some.size());
      }
    } catch (MqttException e) {
      throw new IllegalStateException("the node does not take broadcasts", e);
    }
  }

  /// Waits until every device of every [#broadcast] has an outcome, for [#PATIENCE] at most. For
  /// the thread that broadcasts.
  ///
  /// @return how many have none
  public long awaitBroadcasts() {
    awaitOutcomes(broadcastTo.sum());
    return Math.max(0, broadcastTo.sum() - delivered() - otherwise());
  }

  /// Targets that the node called delivered.
  public long delivered() {
    return delivered.sum();
  }

  /// Targets with any other outcome.
  public long otherwise() {
    return otherwise.sum();
  }

  @Override
  public void close() {
    try {
      client.disconnectForcibly(1, 1);
      client.close();
    } catch (MqttException e) {
      // The node ended first.
    }
  }
}
