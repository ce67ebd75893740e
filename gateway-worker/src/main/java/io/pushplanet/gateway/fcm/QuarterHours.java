package io.pushplanet.gateway.fcm;

import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.random.RandomGenerator;

/// Keeps bulk away from the full hour and its quarters, when many other senders' campaigns leave:
/// Google asks for it (https://firebase.google.com/docs/cloud-messaging/scale-fcm). The waiting
/// messages leave spread over some minutes afterwards. All time zones have their quarters at the
/// same instants. Thread-safe when its randomness is. It keeps no state, so a clock that jumps does
/// no harm.
final class QuarterHours {
  private static final long QUARTER_MILLIS = Duration.ofMinutes(15).toMillis();

  /// A message that comes back must be sent within its time to live.
  private static final Duration LAST_MOMENT = Duration.ofSeconds(5);

  private final Duration margin;
  private final Duration spread;
  private final int bulkRecipients;
  private final Clock clock;
  private final RandomGenerator random;

  QuarterHours(FcmSettings settings, Clock clock, RandomGenerator random) {
    this.margin = settings.quarterHourMargin();
    this.spread = settings.quarterHourSpread();
    this.bulkRecipients = settings.bulkRecipients();
    this.clock = clock;
    this.random = random;
  }

  /// How long this message has to wait; empty when it may leave now. A message whose time to live
  /// would end meanwhile may leave.
  Optional<Duration> wait(Push push) {
    Integer audience = push.audience();
    if (audience == null
        || audience < bulkRecipients
        || push.delivery().priority() != Priority.NORMAL) {
      return Optional.empty();
    }
    Instant now = clock.instant();
    Duration rest = untilOver(now);
    if (rest.isZero()) {
      return Optional.empty();
    }
    Duration spreadOut = rest.plusMillis(random.nextLong(1 + spread.toMillis()));
    if (endsInTime(push, now, spreadOut)) {
      return Optional.of(spreadOut);
    }
    return endsInTime(push, now, rest) ? Optional.of(rest) : Optional.empty();
  }

  /// Zero outside of the margins.
  private Duration untilOver(Instant now) {
    long after = Math.floorMod(now.toEpochMilli(), QUARTER_MILLIS);
    if (after < margin.toMillis()) {
      return margin.minusMillis(after);
    }
    long before = QUARTER_MILLIS - after;
    return before <= margin.toMillis() ? margin.plusMillis(before) : Duration.ZERO;
  }

  /// The retry schedule adds up to a quarter of the wait that it is given.
  private static boolean endsInTime(Push push, Instant now, Duration wait) {
    Duration longest = wait.plus(wait.dividedBy(4)).plus(LAST_MOMENT);
    return now.plus(longest).isBefore(push.expiresAt());
  }
}
