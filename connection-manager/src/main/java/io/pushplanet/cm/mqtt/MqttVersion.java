package io.pushplanet.cm.mqtt;

/// The supported protocol versions. The level is the byte in CONNECT
/// (https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901037).
public enum MqttVersion {
  V3_1_1(4),
  V5(5);

  private final int level;

  MqttVersion(int level) {
    this.level = level;
  }

  public int level() {
    return level;
  }
}
