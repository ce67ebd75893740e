package io.pushplanet.common.delivery;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/// One try to bring a message to a device: a line of its timeline.
///
/// @param channel null where no channel was reached, such as an unknown device
/// @param at in milliseconds, as every time of the API; what is finer is left out
/// @param result a word such as `delivered`, `rejected`, `repeated` at once, `deferred`, `parked`, `called_off`, `expired`, `failed`
/// @param status the provider's status code where there is one
/// @param reason the provider's reason or ours, such as `BadDeviceToken`; of a longer one the first [#LONGEST_REASON] letters
/// @param providerId the provider's id of the notification; of a longer one the first [#LONGEST_PROVIDER_ID] letters
/// @param action what was done about it, such as `token forgotten`, `credential paused; retry at …`, `falls back to apns`
/// @param detail how the provider explains its reason, for people; of a longer one the first [#LONGEST_DETAIL] letters
public record Attempt(
    @Nullable Channel channel,
    Instant at,
    String result,
    @Nullable Integer status,
    @Nullable String reason,
    @Nullable String providerId,
    @Nullable String action,
    @Nullable String detail) {
  /// As the column `reason` has.
  public static final int LONGEST_REASON = 128;

  public static final int LONGEST_PROVIDER_ID = 255;
  public static final int LONGEST_DETAIL = 200;

  public Attempt {
    at = at.truncatedTo(ChronoUnit.MILLIS);
    reason = reason == null ? null : shortened(reason, LONGEST_REASON);
    providerId = providerId == null ? null : shortened(providerId, LONGEST_PROVIDER_ID);
    detail = detail == null ? null : shortened(detail, LONGEST_DETAIL);
  }

  public Attempt(
      @Nullable Channel channel,
      Instant at,
      String result,
      @Nullable Integer status,
      @Nullable String reason,
      @Nullable String providerId,
      @Nullable String action) {
    this(channel, at, result, status, reason, providerId, action, null);
  }

  public Attempt explained(@Nullable String detail) {
    return new Attempt(channel, at, result, status, reason, providerId, action, detail);
  }

  /// The device acknowledged after whoever had sent it stopped waiting. Whoever tells of it tells the same, so that it
  /// counts once.
  public static Attempt acknowledgedLate(Instant at) {
    return new Attempt(Channel.MQTT, at, "delivered", null, null, null, "acknowledged late");
  }

  /// By the caller: no channel has a part in it.
  public static Attempt cancelled(Instant at) {
    return new Attempt(null, at, "cancelled", null, "cancelled", null, null);
  }

  /// By us, not by a provider.
  public static Attempt rejected(@Nullable Channel channel, Instant at, String reason) {
    return new Attempt(channel, at, "rejected", null, reason, null, null);
  }

  public static Attempt expired(
      @Nullable Channel channel, Instant at, String reason, String action) {
    return new Attempt(channel, at, "expired", null, reason, null, action);
  }

  /// A provider's words may be of any length, and a timeline has its column. Half of a character of two is no character.
  public static String shortened(String words, int longest) {
    if (words.length() <= longest) {
      return words;
    }
    return words.substring(
        0, Character.isHighSurrogate(words.charAt(longest - 1)) ? longest - 1 : longest);
  }
}
