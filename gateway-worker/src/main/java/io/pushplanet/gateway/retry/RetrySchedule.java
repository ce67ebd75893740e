package io.pushplanet.gateway.retry;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import java.time.Duration;
import java.util.random.RandomGenerator;

/// When to try again. What a provider asks for is obeyed; else it depends on what went wrong, doubles with each attempt, and
/// is spread by a quarter to either side so that a burst does not come back as a burst. Thread-safe when its randomness is.
public final class RetrySchedule {
  /// No schedule waits longer between two attempts.
  public static final Duration LONGEST = Duration.ofMinutes(15);

  /// A credential that was refused may be replaced any moment; what waits for it is then brought forward.
  public static final Duration CREDENTIAL_PAUSE = Duration.ofSeconds(30);

  /// Another worker may do, or another moment.
  private static final Duration FIRST_ERROR_PAUSE = Duration.ofSeconds(1);

  /// Redis is back soon, or nobody can be found at all.
  public static final Duration DIRECTORY_PAUSE = Duration.ofSeconds(3);

  /// A message that is parked for a connected device is looked after so often at least.
  public static final Duration LONGEST_DRAIN_PAUSE = Duration.ofMinutes(1);

  private final RandomGenerator random;

  public RetrySchedule(RandomGenerator random) {
    this.random = random;
  }

  /// @param attempt how often it was tried before, 0 at first
  public Duration after(Channel channel, DeliveryOutcome.Deferred deferred, int attempt) {
    Duration asked = deferred.after();
    return asked == null
        ? spread(doubled(first(channel, deferred.status()), attempt))
        : notBefore(asked);
  }

  /// Spread over a quarter more than what is asked for.
  public Duration after(DeliveryOutcome.PutOff putOff) {
    return notBefore(putOff.after());
  }

  /// Never earlier than asked.
  private Duration notBefore(Duration asked) {
    return asked.isNegative()
        ? Duration.ZERO
        : asked.plusMillis(random.nextLong(1 + asked.toMillis() / 4));
  }

  /// @param attempt how often it was tried before, 0 at first
  public Duration afterCredentialFault(int attempt) {
    return spread(doubled(CREDENTIAL_PAUSE, attempt));
  }

  /// @param errors how often a worker tripped over it before, 0 at first
  public Duration afterInternalError(int errors) {
    return spread(doubled(FIRST_ERROR_PAUSE, errors));
  }

  public Duration afterDirectoryLoss() {
    return spread(DIRECTORY_PAUSE);
  }

  /// @param attempt how often it was tried before, 0 at first
  public Duration afterFailedDrain(int attempt) {
    Duration wait = doubled(DIRECTORY_PAUSE, attempt);
    return spread(wait.compareTo(LONGEST_DRAIN_PAUSE) > 0 ? LONGEST_DRAIN_PAUSE : wait);
  }

  private static Duration first(Channel channel, int status) {
    if (status == 0) {
      // The connection broke or nothing came back: another one may do at once.
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
    long quarter = wait.toMillis() / 4;
    return wait.minusMillis(quarter).plusMillis(random.nextLong(1 + 2 * quarter));
  }
}
