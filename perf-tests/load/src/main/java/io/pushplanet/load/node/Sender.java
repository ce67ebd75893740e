package io.pushplanet.load.node;

import io.pushplanet.load.fleet.Device;
import java.util.List;

/// Sends one message to many devices.
public interface Sender extends AutoCloseable {
  /// Returns when the server has accepted it; the devices get it soon after.
  void send(List<Device> devices);

  @Override
  void close();
}
