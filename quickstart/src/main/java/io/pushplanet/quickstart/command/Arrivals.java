package io.pushplanet.quickstart.command;

import java.util.Queue;
import org.eclipse.paho.mqttv5.client.IMqttToken;
import org.eclipse.paho.mqttv5.client.MqttCallback;
import org.eclipse.paho.mqttv5.client.MqttDisconnectResponse;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.packet.MqttProperties;

/// Keeps the messages that come to a device. Their MQTT packet identifiers are as on the wire.
record Arrivals(Queue<MqttMessage> messages) implements MqttCallback {

  @Override
  public void messageArrived(String topic, MqttMessage message) {
    messages.add(message);
  }

  @Override
  public void disconnected(MqttDisconnectResponse response) {
    // The caller that waits for a message reports one that does not arrive.
  }

  @Override
  public void mqttErrorOccurred(MqttException exception) {}

  @Override
  public void deliveryComplete(IMqttToken token) {}

  @Override
  public void connectComplete(boolean reconnect, String serverUri) {}

  @Override
  public void authPacketArrived(int reasonCode, MqttProperties properties) {}
}
