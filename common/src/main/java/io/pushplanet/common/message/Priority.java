package io.pushplanet.common.message;

/// The two ways through our lanes, from the queue to the provider's stream: `high` never waits behind `normal`.
public enum Priority {
  HIGH,
  NORMAL
}
