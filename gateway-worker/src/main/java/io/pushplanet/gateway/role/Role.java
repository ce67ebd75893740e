package io.pushplanet.gateway.role;

/// A task of the worker; processes may do one, some or all of them.
public enum Role {
  /// Drains the lanes to providers and nodes.
  DELIVER,
  /// Finds the devices of open audiences.
  FANOUT,
  /// Writes events to MySQL.
  STATISTICS,
  /// Brings back what is due and ends what waited too long.
  LATER
}
