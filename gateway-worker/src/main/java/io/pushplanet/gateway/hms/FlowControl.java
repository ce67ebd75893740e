package io.pushplanet.gateway.hms;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// Lets an app rest that has sent to more devices in a second than Huawei lets it, or whenever its network is full: 503
/// (https://developer.huawei.com/consumer/en/doc/harmonyos-references/push-msg-freq-control). How many that are is Huawei's
/// secret and changes, at least 6,000 (https://help.aliyun.com/document_detail/616229.html): so what it says counts, nothing
/// that we count. Thread-safe.
final class FlowControl {
  /// Doubled with each refusal in a row.
  static final Duration FIRST_REST = Duration.ofSeconds(1);

  static final Duration LONGEST_REST = Duration.ofMinutes(1);

  /// One answer holds up nobody's messages for longer, whatever it asks for: the app is refused again if Huawei means it.
  static final Duration LONGEST_ASKED_REST = Duration.ofMinutes(15);

  /// Answers to requests that were under way together are one refusal.
  private static final Duration ONE_REFUSAL = Duration.ofSeconds(1);

  private static final int MOST_APPS = 10_000;

  private final Clock clock;
  private final Cache<String, Rest> resting = Caffeine.newBuilder().maximumSize(MOST_APPS).build();

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

  /// @param asked how long Huawei wants it to rest, where it says that
  /// @return how long it rests now
  Duration refused(String app, Optional<Duration> asked) {
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
                      inARow, now, now.plus(asked.map(FlowControl::bounded).orElse(wait(inARow))));
                });
    // Over already where what was asked for has passed meanwhile.
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
