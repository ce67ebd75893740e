package io.pushplanet.gateway.fcm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.fcm.ProjectPace.Turn;
import io.pushplanet.simulators.fcm.Quotas;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// A broadcast of ten million messages to one Firebase project, and `high` messages of the same app
/// meanwhile, against the simulator's bucket of 600,000 a minute. Time is moved by hand: the
/// broadcast takes 17 minutes of it.
class TenMillionMessagesIT {
  private static final int MESSAGES = 10_000_000;
  private static final Duration LONG = Duration.ofDays(28);
  private static final double HIGH_PER_SECOND = 50;

  private final MutableClock clock = MutableClock.started();
  private final ProjectPace pace = new ProjectPace(Quotas.PER_MINUTE, clock);
  private final Quotas quotas = new Quotas(clock);
  private final SplittableRandom random = new SplittableRandom(7);
  private final List<Duration> waitsOfHigh = new ArrayList<>();
  private long requests;
  private long refused;

  @Test
  void ten_million_messages_use_the_quota_and_high_ones_do_not_wait() {
    Instant start = clock.instant();
    Instant nextHigh = start.plus(untilNextHigh());
    int accepted = 0;
    while (accepted < MESSAGES) {
      Turn turn = pace.turn(Priority.NORMAL, false, LONG);
      Instant leaves = clock.instant().plus(wait(turn));
      while (nextHigh.isBefore(leaves)) {
        moveTo(nextHigh);
        high();
        nextHigh = nextHigh.plus(untilNextHigh());
      }
      moveTo(leaves);
      if (turn instanceof Turn.After && isAccepted()) {
        accepted++;
      }
    }

    double minutes = Duration.between(start, clock.instant()).toNanos() / 60e9;
    double use = (requests - refused) / (minutes * Quotas.PER_MINUTE);
    waitsOfHigh.sort(null);
    Duration p99 = waitsOfHigh.get(waitsOfHigh.size() * 99 / 100);
    System.out.printf(
        "%,d messages in %.1f minutes: %.2f %% of the quota used, %d of %,d answered 429; %,d high ones waited %d us (p99)%n",
        accepted, minutes, 100 * use, refused, requests, waitsOfHigh.size(), p99.toNanos() / 1_000);
    assertThat(refused).isLessThan(requests / 1_000);
    assertThat(use).isGreaterThan(0.95);
    assertThat(p99).isLessThan(Duration.ofSeconds(1));
  }

  private void high() {
    Turn turn = pace.turn(Priority.HIGH, false, LONG);
    waitsOfHigh.add(wait(turn));
    if (turn instanceof Turn.After) {
      var _ = isAccepted();
    }
  }

  private boolean isAccepted() {
    requests++;
    Optional<Quotas.Exceeded> exceeded = quotas.countProject("broadcast");
    if (exceeded.isEmpty()) {
      return true;
    }
    refused++;
    pace.refused(exceeded.get().retryAfter());
    return false;
  }

  private static Duration wait(Turn turn) {
    return switch (turn) {
      case Turn.After(Duration wait) -> wait;
      case Turn.Rest(Duration wait) -> wait;
    };
  }

  private void moveTo(Instant time) {
    clock.advance(Duration.between(clock.instant(), time));
  }

  private Duration untilNextHigh() {
    return Duration.ofNanos((long) (-Math.log(1 - random.nextDouble()) / HIGH_PER_SECOND * 1e9));
  }
}
