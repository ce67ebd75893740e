package io.pushplanet.gateway.hms;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Lets an app rest that has sent to more devices in a second than Huawei allows it, or while
/// Huawei's network is full: 503
/// (https://developer.huawei.com/consumer/en/doc/harmonyos-references/push-msg-freq-control).
/// Huawei keeps the limit secret and changes it; it is at least 6,000
/// (https://help.aliyun.com/document_detail/616229.html). So its answers count, and nothing that we
/// count ourselves. Thread-safe.
final class FlowControl {
  /// Doubled with each refusal in a row.
  static final Duration FIRST_REST = Duration.ofSeconds(1);

  static final Duration LONGEST_REST = Duration.ofMinutes(1);

  /// No single answer holds messages up for longer than this, whatever it asks for: if Huawei means
  /// it, the app is refused again.
  static final Duration LONGEST_ASKED_REST = Duration.ofMinutes(15);

  /// Answers to requests that were under way together count as one refusal.
  private static final Duration ONE_REFUSAL = Duration.ofSeconds(1);

  private static final int MAX_APPS = 10_000;

  private final Clock clock;
  private final Cache<String, Rest> resting = Caffeine.newBuilder().maximumSize(MAX_APPS).build();

  private record Rest(int inARow, Instant since, Instant until) {}

  FlowControl(Clock clock) {
    this.clock = clock;
  }

  /// How long an app still rests; empty when it may send.
  Optional<Duration> rest(String app) {
    Rest rest = resting.getIfPresent(app);
    Instant now = clock.instant();
    return rest != null && rest.until().isAfter(now)
        ? Optional.of(Duration.between(now, rest.until()))
        : Optional.empty();
  }

  /// @param asked the rest that Huawei asks for; null when it asks for none
  /// @return how long it rests now
  Duration refused(String app, @Nullable Duration asked) {
    Instant now = clock.instant();
    Rest rest =
        resting
            .asMap()
            .compute(
                app,
                (_, before) -> {
                  if (before != null && before.since().plus(ONE_REFUSAL).isAfter(now)) {
                    return before;
                  }
                  int inARow = before == null ? 1 : before.inARow() + 1;
                  return new Rest(
                      inARow, now, now.plus(asked == null ? wait(inARow) : bounded(asked)));
                });
    // It is over already when the time that was asked for has passed meanwhile.
    return rest.until().isAfter(now) ? Duration.between(now, rest.until()) : Duration.ZERO;
  }

  private static Duration bounded(Duration asked) {
    return asked.compareTo(LONGEST_ASKED_REST) > 0 ? LONGEST_ASKED_REST : asked;
  }

  private static Duration wait(int inARow) {
    Duration wait = FIRST_REST.multipliedBy(1L << Math.min(inARow - 1, 10));
    return wait.compareTo(LONGEST_REST) > 0 ? LONGEST_REST : wait;
  }

  /// An answer that was no refusal.
  void taken(String app) {
    if (resting.getIfPresent(app) != null && rest(app).isEmpty()) {
      resting.invalidate(app);
    }
  }
}
