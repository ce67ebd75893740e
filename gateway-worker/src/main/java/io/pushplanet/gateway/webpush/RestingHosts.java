package io.pushplanet.gateway.webpush;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// Leaves a push service alone for [#REST] once [#MAX_FAILURES] requests in a row got no answer.
/// Any app's user can name a host that never answers, and its messages would hold the places of all
/// others. Thread-safe.
final class RestingHosts {
  static final int MAX_FAILURES = 5;
  static final Duration REST = Duration.ofSeconds(30);
  private static final int MAX_HOSTS = 10_000;

  private final Clock clock;
  private final Cache<String, Failures> failing =
      Caffeine.newBuilder().maximumSize(MAX_HOSTS).build();

  private record Failures(int inARow, Instant restsUntil) {}

  RestingHosts(Clock clock) {
    this.clock = clock;
  }

  /// How long a host still rests; empty when requests may be sent to it.
  Optional<Duration> rest(String origin) {
    Failures failures = failing.getIfPresent(origin);
    Instant now = clock.instant();
    return failures != null && failures.restsUntil().isAfter(now)
        ? Optional.of(Duration.between(now, failures.restsUntil()))
        : Optional.empty();
  }

  void answered(String origin) {
    failing.invalidate(origin);
  }

  void failed(String origin) {
    Instant restsUntil = clock.instant().plus(REST);
    failing
        .asMap()
        .merge(
            origin,
            new Failures(1, Instant.EPOCH),
            (before, one) ->
                new Failures(
                    before.inARow() + 1,
                    before.inARow() + 1 >= MAX_FAILURES ? restsUntil : one.restsUntil()));
  }
}
