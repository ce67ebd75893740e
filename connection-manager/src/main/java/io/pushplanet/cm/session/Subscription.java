package io.pushplanet.cm.session;

import io.pushplanet.cm.mqtt.QoS;

/// The only subscription that a device can have, to its messages.
///
/// @param identifier MQTT 5's subscription identifier; 0 for none
public record Subscription(QoS qos, int identifier) {
  private static final Subscription AT_MOST_ONCE = new Subscription(QoS.AT_MOST_ONCE, 0);
  private static final Subscription AT_LEAST_ONCE = new Subscription(QoS.AT_LEAST_ONCE, 0);

  /// Returns a shared object for the usual subscriptions.
  public static Subscription of(QoS qos, int identifier) {
    if (identifier != 0) {
      return new Subscription(qos, identifier);
    }
    return switch (qos) {
      case AT_MOST_ONCE -> AT_MOST_ONCE;
      case AT_LEAST_ONCE -> AT_LEAST_ONCE;
      case EXACTLY_ONCE -> new Subscription(qos, 0);
    };
  }
}
