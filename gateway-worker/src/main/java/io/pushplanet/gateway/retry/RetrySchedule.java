package io.pushplanet.gateway.retry;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import java.time.Duration;
import java.util.random.RandomGenerator;

/// When a message is tried again. The pause depends on the fault, doubles with each attempt, is
/// never shorter than the provider asks for, and is spread over a quarter more, so that a burst
/// does not come back as a burst. Thread-safe when its randomness is.
public final class RetrySchedule {
  /// No schedule waits longer between two attempts.
  public static final Duration LONGEST = Duration.ofMinutes(15);

  /// A refused credential may be replaced at any moment. The messages that wait for it are then
  /// brought forward.
  public static final Duration CREDENTIAL_PAUSE = Duration.ofSeconds(30);

  private static final Duration CREDENTIAL_REST = Duration.ofMinutes(5);

  /// Another worker may succeed, or this one a moment later.
  private static final Duration FIRST_ERROR_PAUSE = Duration.ofSeconds(1);

  /// Redis is back soon, or no device can be found anyway.
  private static final Duration DIRECTORY_PAUSE = Duration.ofSeconds(3);

  /// The longest pause between two attempts to find a device that may be connected. When the
  /// directory answers again, the waiting messages are brought forward.
  private static final Duration LONGEST_DIRECTORY_PAUSE = Duration.ofMinutes(1);

  /// While MySQL is away, the message waits for it at the broker.
  private static final Duration DATABASE_PAUSE = Duration.ofSeconds(3);

  private static final Duration REPLACED_TOKEN_PAUSE = Duration.ofSeconds(1);

  /// A message that waits for long is tried once more so long before its time to live ends.
  public static final Duration LAST_TRY = Duration.ofSeconds(2);

  private final RandomGenerator random;

  public RetrySchedule(RandomGenerator random) {
    this.random = random;
  }

  /// @param attempt how many attempts there were before, 0 at first
  public Duration after(Channel channel, DeliveryOutcome.TryAgain again, int attempt) {
    Duration asked = again.after();
    if (asked != null && again.status() == 429) {
      // The provider that counts requests knows when there is room again.
      return spread(asked);
    }
    Duration own = own(channel, again.status(), attempt);
    return spread(asked == null || asked.compareTo(own) < 0 ? own : asked);
  }

  public Duration after(DeliveryOutcome.PutOff putOff) {
    return spread(putOff.after());
  }

  /// @param attempt how many attempts there were before, 0 at first
  public Duration afterCredentialFault(int attempt) {
    return spread(doubled(CREDENTIAL_PAUSE, attempt));
  }

  /// No request is made meanwhile, and the waiting messages are brought forward when another
  /// credential arrives or this one is accepted again.
  public Duration whileCredentialRests() {
    return spread(CREDENTIAL_REST);
  }

  /// @param errors how often a worker has failed at the message before, 0 at first
  public Duration afterInternalError(int errors) {
    return spread(doubled(FIRST_ERROR_PAUSE, errors));
  }

  /// @param attempt how many attempts there were before, 0 at first
  public Duration afterDirectoryLoss(int attempt) {
    Duration wait = doubled(DIRECTORY_PAUSE, attempt);
    return spread(wait.compareTo(LONGEST_DIRECTORY_PAUSE) > 0 ? LONGEST_DIRECTORY_PAUSE : wait);
  }

  public Duration afterDatabaseLoss() {
    return spread(DATABASE_PAUSE);
  }

  /// The message is then sent to the device's present token, which is read when it comes back.
  public Duration afterReplacedToken() {
    return spread(REPLACED_TOKEN_PAUSE);
  }

  /// Shortens a wait so that a last try comes before the time to live ends: the fault may be
  /// repaired by then.
  ///
  /// @param left until the time to live ends
  /// @param least a last try sooner than this is left out
  public static Duration beforeItsEnd(Duration wait, Duration left, Duration least) {
    Duration lastTry = left.minus(LAST_TRY);
    return lastTry.compareTo(wait) < 0 && lastTry.compareTo(least) >= 0 ? lastTry : wait;
  }

  /// Apple says "After 15 minutes, you can retry" of its 500 and 503
  /// (https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns).
  /// Most of them come from one server alone, so the first retry comes soon, on another connection.
  private static Duration own(Channel channel, int status, int attempt) {
    boolean ofApple = channel == Channel.APNS && (status == 500 || status == 503);
    return ofApple && attempt > 0 ? LONGEST : doubled(first(channel, status), attempt);
  }

  /// The wait before the first retry.
  ///
  /// @param status 0 when no answer came
  public static Duration first(Channel channel, int status) {
    if (status == 0) {
      // The connection broke or no answer came: another connection may succeed at once.
      return Duration.ofSeconds(1);
    }
    if (status == 429) {
      return Duration.ofSeconds(30);
    }
    // FCM asks for at least 10 s before the first retry of a 5xx
    // (https://firebase.google.com/docs/cloud-messaging/scale-fcm).
    return channel == Channel.FCM ? Duration.ofSeconds(10) : Duration.ofSeconds(3);
  }

  private static Duration doubled(Duration first, int attempt) {
    Duration wait = first.multipliedBy(1L << Math.min(attempt, 20));
    return wait.compareTo(LONGEST) > 0 ? LONGEST : wait;
  }

  private Duration spread(Duration wait) {
    return wait.isNegative()
        ? Duration.ZERO
        : wait.plusMillis(random.nextLong(1 + wait.toMillis() / 4));
  }
}
