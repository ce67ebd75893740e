package io.pushplanet.common.delivery;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Locale;

/// The state of one delivery (a message at a device). All states but `queued` are final, and
/// `delivered` never changes.
public enum DeliveryState {
  @JsonProperty("queued")
  QUEUED,
  /// The device or the provider acknowledged it.
  @JsonProperty("delivered")
  DELIVERED,
  @JsonProperty("failed")
  FAILED,
  @JsonProperty("expired")
  EXPIRED,
  @JsonProperty("cancelled")
  CANCELLED;

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
