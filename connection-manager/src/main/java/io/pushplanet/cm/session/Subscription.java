package io.pushplanet.cm.session;

import io.pushplanet.cm.mqtt.QoS;

/// The one subscription a device can have, to its messages.
///
/// @param identifier MQTT 5's subscription identifier; 0 for none
public record Subscription(QoS qos, int identifier) {
  String text() {
    return qos.ordinal() + "," + identifier;
  }

  static Subscription parse(String text) {
    int comma = text.indexOf(',');
    return new Subscription(
        QoS.of(Integer.parseInt(text.substring(0, comma))),
        Integer.parseInt(text.substring(comma + 1)));
  }
}
