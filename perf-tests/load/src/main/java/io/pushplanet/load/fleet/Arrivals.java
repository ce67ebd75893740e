package io.pushplanet.load.fleet;

import io.pushplanet.common.device.DeviceId;

/// Receives every message of the fleet's devices, after its PUBACK was passed to the socket. Called
/// on the fleet's thread: must not block.
@FunctionalInterface
public interface Arrivals {
  /// @param messageId the payload's `id`, empty when there is none
  /// @param nanos `System.nanoTime()` of the acknowledgement
  void arrived(DeviceId device, String messageId, long nanos);
}
