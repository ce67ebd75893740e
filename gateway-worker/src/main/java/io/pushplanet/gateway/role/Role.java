package io.pushplanet.gateway.role;

/// A task of the worker. A process may do one, some or all of them.
public enum Role {
  /// Delivers the lanes' messages to providers and nodes.
  DELIVER,
  /// Finds the devices of open audiences.
  FANOUT,
  /// Writes events to MySQL.
  STATISTICS,
  /// Brings due messages back and ends those that have waited too long.
  LATER
}
