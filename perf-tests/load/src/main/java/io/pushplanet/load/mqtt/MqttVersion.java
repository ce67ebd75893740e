package io.pushplanet.load.mqtt;

/// The protocol a client speaks.
public enum MqttVersion {
  V3_1_1(4),
  V5(5);

  private final int level;

  MqttVersion(int level) {
    this.level = level;
  }

  /// The number that a CONNECT holds.
  int level() {
    return level;
  }
}
