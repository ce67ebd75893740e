package io.pushplanet.cm;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.eclipse.paho.mqttv5.client.IMqttMessageListener;
import org.eclipse.paho.mqttv5.client.MqttClient;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.MqttSubscription;
import org.jspecify.annotations.Nullable;

/// A gateway like the worker: Paho on the trusted listener.
final class TestGateway implements AutoCloseable {
  private final MqttClient client;
  private final Map<String, BlockingQueue<Outcome>> frames = new ConcurrentHashMap<>();

  TestGateway(TestNode node, String clientId) throws Exception {
    this(node.gateway(), clientId);
  }

  TestGateway(String address, String clientId) throws Exception {
    client = new MqttClient(address, clientId, new MemoryPersistence());
    var options = new MqttConnectionOptions();
    options.setUserName("gateway");
    options.setPassword(TestNode.GATEWAY_PASSWORD.getBytes(StandardCharsets.UTF_8));
    client.connect(options);
    client.subscribe(
        new MqttSubscription[] {new MqttSubscription(NodeFrame.OUTCOMES_TOPIC + clientId, 1)},
        new IMqttMessageListener[] {(_, message) -> heard(message)});
  }

  private void heard(MqttMessage message) {
    var outcomes = WireForm.read(message.getPayload(), NodeOutcomes.class);
    var queue = frames.get(outcomes.frame());
    if (queue != null) {
      queue.addAll(outcomes.each());
    }
  }

  Outcome deliver(DeviceKey device, MessageId id, String payload) throws Exception {
    return deliver(device, id, payload, Duration.ofSeconds(45));
  }

  Outcome deliver(DeviceKey device, MessageId id, String payload, Duration patience)
      throws Exception {
    return deliver(List.of(device), id, payload, patience).getFirst();
  }

  /// Sends one frame and waits for all its outcomes.
  List<Outcome> deliver(List<DeviceKey> devices, MessageId id, String payload, Duration patience)
      throws Exception {
    var queue = send(devices, id, payload, patience);
    var outcomes = new ArrayList<Outcome>();
    while (outcomes.size() < devices.size()) {
      outcomes.add(next(queue));
    }
    return outcomes;
  }

  BlockingQueue<Outcome> send(
      List<DeviceKey> devices, MessageId id, String payload, Duration patience) throws Exception {
    return send(devices, null, id, payload, patience);
  }

  private BlockingQueue<Outcome> send(
      List<DeviceKey> devices,
      @Nullable Long epoch,
      MessageId id,
      String payload,
      Duration patience)
      throws Exception {
    var name = UUID.randomUUID().toString();
    BlockingQueue<Outcome> queue = new LinkedBlockingQueue<>();
    frames.put(name, queue);
    var now = Instant.now();
    var frame =
        new NodeFrame(
            name,
            now.plus(patience),
            List.of(new NodeFrame.Message(id, now.plusSeconds(3_600), payload)),
            devices.stream()
                .map(device -> new NodeFrame.Target(device.app(), device.device(), 0, epoch))
                .toList());
    client.publish(NodeFrame.DELIVER_TOPIC, WireForm.write(frame), 1, false);
    return queue;
  }

  /// Sends one message to many devices, as a gateway that saw this epoch in the directory.
  BlockingQueue<Outcome> broadcast(
      List<DeviceKey> devices, long epoch, MessageId id, String payload, Duration patience)
      throws Exception {
    var name = UUID.randomUUID().toString();
    BlockingQueue<Outcome> queue = new LinkedBlockingQueue<>();
    frames.put(name, queue);
    var now = Instant.now();
    var frame =
        new NodeBroadcast(
            name,
            now.plus(patience),
            new NodeFrame.Message(id, now.plusSeconds(3_600), payload),
            TestNode.APP,
            devices.stream().map(DeviceKey::device).toList(),
            devices.stream().map(_ -> epoch).toList());
    client.publish(NodeBroadcast.TOPIC, WireForm.write(frame), 1, false);
    return queue;
  }

  /// As a gateway that saw this epoch in the directory.
  Outcome deliverAt(long epoch, DeviceKey device, MessageId id, String payload) throws Exception {
    var queue = send(List.of(device), epoch, id, payload, Duration.ofSeconds(45));
    return next(queue);
  }

  static Outcome next(BlockingQueue<Outcome> outcomes) throws InterruptedException {
    var next = outcomes.poll(60, TimeUnit.SECONDS);
    if (next == null) {
      throw new AssertionError("no outcome within 60 seconds");
    }
    return next;
  }

  void drain(DeviceKey device) throws Exception {
    var drain =
        new NodeFrame.Drain(List.of(new NodeFrame.Drain.Device(device.app(), device.device())));
    client.publish(NodeFrame.DRAIN_TOPIC, WireForm.write(drain), 1, false);
  }

  @Override
  public void close() throws MqttException {
    client.disconnectForcibly(1, 1);
    client.close();
  }
}
