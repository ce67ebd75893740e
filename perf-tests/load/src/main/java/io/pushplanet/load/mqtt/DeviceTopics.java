package io.pushplanet.load.mqtt;

/// The topics of a device.
public final class DeviceTopics {
  /// Its messages: it subscribes.
  public static final String MESSAGES = "push/messages";

  /// What became of them on its screen: it publishes.
  public static final String RECEIPTS = "push/receipts";

  /// Anything for the app's backend: it publishes.
  public static final String UPLINK = "push/uplink";

  private DeviceTopics() {}
}
