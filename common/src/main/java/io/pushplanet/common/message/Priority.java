package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonProperty;

/// `high` wakes the device and never waits behind `normal`.
public enum Priority {
  @JsonProperty("high")
  HIGH,
  @JsonProperty("normal")
  NORMAL
}
