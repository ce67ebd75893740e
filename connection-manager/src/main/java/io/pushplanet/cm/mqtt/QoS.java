package io.pushplanet.cm.mqtt;

/// The delivery guarantee; the ordinal is the number on the wire.
public enum QoS {
  AT_MOST_ONCE,
  AT_LEAST_ONCE,
  EXACTLY_ONCE;

  private static final QoS[] BY_LEVEL = values();

  /// The level with this number, from 0 to 2.
  public static QoS of(int level) {
    return BY_LEVEL[level];
  }

  /// The lower of the two.
  public QoS atMost(QoS other) {
    return ordinal() <= other.ordinal() ? this : other;
  }
}
