package io.pushplanet.common.delivery;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Locale;

/// Where one delivery (a message at a device) stands. All but `queued` are final; a delivery that was delivered stays so.
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
