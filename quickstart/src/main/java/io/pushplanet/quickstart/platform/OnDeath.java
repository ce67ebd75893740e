package io.pushplanet.quickstart.platform;

/// What happens when a process of the platform dies.
public enum OnDeath {
  /// The platform ends.
  STOP,
  /// The process is started again.
  RESTART
}
