package io.pushplanet.cm.directory;

import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.common.session.DeviceKey;

/// Receives the differences between gateways and this node about who owns a device. Thread-safe;
/// callers never wait.
public interface OwnershipDoubts {
  /// A gateway has seen a newer owner of the device than this session.
  void doubt(DeviceSession session);

  /// A gateway believes that this node owns the device under this epoch, but the table has no
  /// session of it.
  void absent(DeviceKey device, long epoch);
}
