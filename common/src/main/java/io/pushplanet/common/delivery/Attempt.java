package io.pushplanet.common.delivery;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/// One try to bring a message to a device: a line of its timeline.
///
/// @param channel null where no channel was reached, such as an unknown device
/// @param at in milliseconds, as every time of the API; what is finer is left out
/// @param result a word such as `delivered`, `rejected`, `deferred`, `timeout`, `parked`, `expired`
/// @param status the provider's status code where there is one
/// @param reason the provider's reason or ours, such as `BadDeviceToken`
/// @param providerId the provider's id of the notification
/// @param action what was done about it, such as `token forgotten`, `retry at …`, `fell back to apns`
public record Attempt(
    @Nullable Channel channel,
    Instant at,
    String result,
    @Nullable Integer status,
    @Nullable String reason,
    @Nullable String providerId,
    @Nullable String action) {
  public Attempt {
    at = at.truncatedTo(ChronoUnit.MILLIS);
  }
}
