package io.pushplanet.load.fleet;

/// The protocol a device of the fleet speaks.
public enum MqttVersion {
  V3_1_1(4),
  V5(5);

  private final int level;

  MqttVersion(int level) {
    this.level = level;
  }

  int level() {
    return level;
  }
}
