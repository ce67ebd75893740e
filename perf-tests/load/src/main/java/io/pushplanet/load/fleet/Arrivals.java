package io.pushplanet.load.fleet;

import io.pushplanet.common.device.DeviceId;

/// Hears of every message a device of the fleet gets, after its PUBACK was handed to the socket. Called by the fleet's
/// thread: must not block.
@FunctionalInterface
public interface Arrivals {
  /// @param messageId the payload's `id`, empty when there is none
  /// @param nanos `System.nanoTime()` of the acknowledgement
  void arrived(DeviceId device, String messageId, long nanos);
}
