package io.pushplanet.common.delivery;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/// One attempt to bring a message to a device: an entry of its timeline.
///
/// @param channel null where no channel was reached, such as for an unknown device
/// @param at in milliseconds, like every time of the API; a finer part is cut off
/// @param result the word of an [AttemptResult]. A newer version may write another word, which this
///     version stores and shows unchanged
/// @param status the provider's status code; null without an answer
/// @param reason the provider's reason or ours, such as `BadDeviceToken`; of a longer one the first
///     [#LONGEST_REASON] letters
/// @param providerId the provider's id of the notification; of a longer one the first
///     [#LONGEST_PROVIDER_ID] letters
/// @param action what we did about it, such as `token forgotten`, `credential paused; retry at …`,
///     `falls back to apns`
/// @param detail the provider's explanation of its reason, for people; of a longer one the first
///     [#LONGEST_DETAIL] letters
public record Attempt(
    @Nullable Channel channel,
    Instant at,
    String result,
    @Nullable Integer status,
    @Nullable String reason,
    @Nullable String providerId,
    @Nullable String action,
    @Nullable String detail) {
  /// The length of the column `reason`.
  public static final int LONGEST_REASON = 128;

  public static final int LONGEST_PROVIDER_ID = 255;
  public static final int LONGEST_DETAIL = 200;

  public Attempt {
    at = at.truncatedTo(ChronoUnit.MILLIS);
    reason = reason == null ? null : shortened(reason, LONGEST_REASON);
    providerId = providerId == null ? null : shortened(providerId, LONGEST_PROVIDER_ID);
    detail = detail == null ? null : shortened(detail, LONGEST_DETAIL);
  }

  private Attempt(
      @Nullable Channel channel,
      Instant at,
      AttemptResult result,
      @Nullable String reason,
      @Nullable String action) {
    this(channel, at, result.word(), null, reason, null, action, null);
  }

  /// The same with the provider's status code.
  ///
  /// @param status 0 where the provider did not answer
  public Attempt answered(int status) {
    return status == 0
        ? this
        : new Attempt(channel, at, result, status, reason, providerId, action, detail);
  }

  /// The same with the provider's explanation.
  public Attempt explained(@Nullable String detail) {
    return detail == null
        ? this
        : new Attempt(channel, at, result, status, reason, providerId, action, detail);
  }

  /// Over MQTT.
  public static Attempt acknowledged(Instant at) {
    return new Attempt(Channel.MQTT, at, AttemptResult.DELIVERED, null, null);
  }

  /// The device acknowledged after the sender stopped waiting. Every process that reports this
  /// reports the same attempt, so that the delivery counts once.
  public static Attempt acknowledgedLate(Instant at) {
    return new Attempt(Channel.MQTT, at, AttemptResult.DELIVERED, null, "acknowledged late");
  }

  /// By a provider.
  ///
  /// @param status as of [#answered]
  public static Attempt delivered(
      Channel channel, Instant at, int status, @Nullable String providerId) {
    return new Attempt(
        channel,
        at,
        AttemptResult.DELIVERED.word(),
        status == 0 ? null : status,
        null,
        providerId,
        null,
        null);
  }

  /// The end of a message that waited in the device's inbox.
  ///
  /// @param state a final one
  public static Attempt fromInbox(
      Instant at, DeliveryState state, @Nullable String reason, @Nullable String action) {
    AttemptResult result =
        switch (state) {
          case DELIVERED -> AttemptResult.DELIVERED;
          case FAILED -> AttemptResult.FAILED;
          case EXPIRED -> AttemptResult.EXPIRED;
          case CANCELLED -> AttemptResult.CANCELLED;
          case QUEUED -> throw new IllegalArgumentException("queued is not an end");
        };
    return new Attempt(Channel.MQTT, at, result, reason, action);
  }

  /// The device's node could not deliver it, and another channel follows.
  public static Attempt notDelivered(Channel channel, Instant at, String reason, String action) {
    return new Attempt(channel, at, AttemptResult.NOT_DELIVERED, reason, action);
  }

  /// By the device.
  public static Attempt refused(Channel channel, Instant at, String reason, String action) {
    return new Attempt(channel, at, AttemptResult.REFUSED, reason, action);
  }

  public static Attempt rejected(@Nullable Channel channel, Instant at, String reason) {
    return rejected(channel, at, reason, null);
  }

  public static Attempt rejected(
      @Nullable Channel channel, Instant at, String reason, @Nullable String action) {
    return new Attempt(channel, at, AttemptResult.REJECTED, reason, action);
  }

  /// It was sent once more at once.
  ///
  /// @param remedy what we changed before that
  public static Attempt repeated(Channel channel, Instant at, String reason, String remedy) {
    return new Attempt(channel, at, AttemptResult.REPEATED, reason, remedy);
  }

  public static Attempt deferred(Channel channel, Instant at, String reason, String action) {
    return new Attempt(channel, at, AttemptResult.DEFERRED, reason, action);
  }

  /// It waits in the device's inbox.
  public static Attempt parked(Channel channel, Instant at, String reason, String action) {
    return new Attempt(channel, at, AttemptResult.PARKED, reason, action);
  }

  /// It was not sent over this channel, because it was delivered over another one.
  public static Attempt calledOff(Channel channel, Instant at, String action) {
    return new Attempt(channel, at, AttemptResult.CALLED_OFF, null, action);
  }

  public static Attempt expired(
      @Nullable Channel channel, Instant at, String reason, @Nullable String action) {
    return new Attempt(channel, at, AttemptResult.EXPIRED, reason, action);
  }

  /// A newer message of the same collapse key takes its place.
  public static Attempt collapsed(Channel channel, Instant at) {
    return expired(channel, at, "collapsed", "replaced by a newer message of its collapse key");
  }

  public static Attempt failed(
      @Nullable Channel channel, Instant at, String reason, @Nullable String action) {
    return new Attempt(channel, at, AttemptResult.FAILED, reason, action);
  }

  /// By the caller: no channel has a part in it.
  public static Attempt cancelled(Instant at) {
    return new Attempt(null, at, AttemptResult.CANCELLED, "cancelled", null);
  }

  /// The first `longest` letters. A provider's words may be of any length, but columns are limited.
  /// A surrogate pair is not split.
  public static String shortened(String words, int longest) {
    if (words.length() <= longest) {
      return words;
    }
    return words.substring(
        0, Character.isHighSurrogate(words.charAt(longest - 1)) ? longest - 1 : longest);
  }
}
