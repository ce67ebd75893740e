package io.pushplanet.common.message;

/// The two lanes of each channel, from the queue to the provider's stream: `high` never waits
/// behind `normal`.
public enum Priority {
  HIGH,
  NORMAL
}
