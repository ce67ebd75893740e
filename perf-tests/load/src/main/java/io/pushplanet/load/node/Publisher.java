package io.pushplanet.load.node;

import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.mqtt.DeviceTopics;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.eclipse.paho.client.mqttv3.MqttClient;
import org.eclipse.paho.client.mqttv3.MqttException;
import org.eclipse.paho.client.mqttv3.persist.MemoryPersistence;

/// Publishes to all subscribers of a topic at once: the way to push with a general MQTT server.
final class Publisher implements Sender {
  private final MqttClient client;

  Publisher(String uri) {
    try {
      client = new MqttClient(uri, "publisher", new MemoryPersistence());
      client.connect();
    } catch (MqttException e) {
      throw new IllegalStateException("the server at " + uri + " does not take us", e);
    }
  }

  @Override
  public void send(List<Device> devices) {
    try {
      byte[] payload = Payload.of(UUID.randomUUID().toString()).getBytes(StandardCharsets.UTF_8);
      client.publish(DeviceTopics.MESSAGES, payload, 1, false);
    } catch (MqttException e) {
      throw new IllegalStateException("the server does not take messages", e);
    }
  }

  @Override
  public void close() {
    try {
      client.disconnectForcibly(1, 1);
      client.close();
    } catch (MqttException e) {
      // The server ended first.
    }
  }
}
