package io.pushplanet.cm.mqtt;

/// One filter of a SUBSCRIBE. The three options after the QoS exist in MQTT 5 only.
public record SubscriptionRequest(
    String filter, QoS qos, boolean noLocal, boolean retainAsPublished, int retainHandling) {

  public SubscriptionRequest(String filter, QoS qos) {
    this(filter, qos, false, false, 0);
  }

  public boolean isShared() {
    return filter.startsWith("$share/");
  }

  public boolean hasWildcard() {
    return filter.indexOf('+') >= 0 || filter.indexOf('#') >= 0;
  }
}
