package io.pushplanet.cm.directory;

import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.common.session.DeviceKey;

/// Hears where gateways and this node differ about who has a device. Thread-safe; nobody waits.
public interface Doubts {
  /// A gateway has seen a newer owner than this session.
  void doubt(DeviceSession session);

  /// A gateway believes that this node has the device, under this epoch. Its session is not in the table.
  void absent(DeviceKey device, long epoch);
}
