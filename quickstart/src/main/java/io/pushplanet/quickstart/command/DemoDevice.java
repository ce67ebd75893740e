package io.pushplanet.quickstart.command;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.eclipse.paho.mqttv5.client.MqttClient;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.MqttSubscription;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A device of the demo: a stock MQTT 5 client with the credentials from its registration.
///
/// It acknowledges the awaited message itself, so that no disconnect can come first: Paho
/// acknowledges only after its callback returns, and a `disconnect` in between would go first.
final class DemoDevice implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Duration ANSWER_DEADLINE = Duration.ofSeconds(60);
  private static final long SESSION_EXPIRY_SECONDS = 86_400;

  private final MqttClient client;
  private final LinkedBlockingQueue<MqttMessage> arrived = new LinkedBlockingQueue<>(1_000);
  private @Nullable String lastId;

  private DemoDevice(MqttClient client) {
    this.client = client;
  }

  /// @param registration the answer to the device's registration
  static DemoDevice connect(JsonNode registration) {
    JsonNode mqtt = registration.path("mqtt");
    try {
      var client =
          new MqttClient(
              "tcp://" + mqtt.path("host").asString() + ":" + mqtt.path("port").asInt(),
              mqtt.path("client_id").asString(),
              new MemoryPersistence());
      client.setTimeToWait(ANSWER_DEADLINE.toMillis());
      client.setManualAcks(true);
      var options = new MqttConnectionOptions();
      options.setUserName(mqtt.path("username").asString());
      options.setPassword(mqtt.path("password").asString().getBytes(StandardCharsets.UTF_8));
      options.setCleanStart(false);
      options.setSessionExpiryInterval(SESSION_EXPIRY_SECONDS);
      options.setConnectionTimeout((int) ANSWER_DEADLINE.toSeconds());
      var device = new DemoDevice(client);
      client.setCallback(new Arrivals(device.arrived));
      client.connect(options);
      client.subscribe(
          new MqttSubscription[] {
            new MqttSubscription(mqtt.path("topic").asString("push/messages"), 1)
          });
      return device;
    } catch (MqttException e) {
      throw new Refusal(
          ExitCode.FAILED,
          "the demo device cannot connect by MQTT to " + mqtt.path("host") + ": " + e);
    }
  }

  /// @return whether this message came in time; other messages that come meanwhile are accepted too
  boolean awaitMessage(UUID id, Duration atMost) {
    long deadlineNanos = System.nanoTime() + atMost.toNanos();
    while (true) {
      Optional<MqttMessage> message = next(deadlineNanos - System.nanoTime());
      if (message.isEmpty()) {
        return false;
      }
      acknowledge(message.get());
      String arrivedId = JSON.readTree(message.get().getPayload()).path("id").asString();
      lastId = arrivedId;
      if (arrivedId.equals(id.toString())) {
        return true;
      }
    }
  }

  /// Reports to the platform that its user has opened the last message.
  void opened() {
    String receipt = JSON.createObjectNode().put("id", lastId).put("event", "opened").toString();
    try {
      client.publish("push/receipts", receipt.getBytes(StandardCharsets.UTF_8), 1, false);
    } catch (MqttException e) {
      throw new Refusal(ExitCode.FAILED, "the demo device cannot send its receipt: " + e);
    }
  }

  private void acknowledge(MqttMessage message) {
    try {
      client.messageArrivedComplete(message.getId(), message.getQos());
    } catch (MqttException e) {
      throw new Refusal(ExitCode.FAILED, "the demo device cannot acknowledge its message: " + e);
    }
  }

  private Optional<MqttMessage> next(long nanos) {
    try {
      return Optional.ofNullable(arrived.poll(nanos, TimeUnit.NANOSECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    try {
      client.disconnect(ANSWER_DEADLINE.toMillis());
      client.close();
    } catch (MqttException e) {
      throw new Refusal(ExitCode.FAILED, "the demo device cannot disconnect: " + e);
    }
  }
}
