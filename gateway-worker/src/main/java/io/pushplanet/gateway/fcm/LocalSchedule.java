package io.pushplanet.gateway.fcm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.Priority;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/// The schedule of the senders that share this object. [RedisSchedule] does the same for all
/// workers: change both, and `ScheduleContract`, which tests both. Thread-safe.
final class LocalSchedule implements Schedule {
  private final Clock clock;
  private final double mostPerSecond;

  /// When the next `normal` message would leave at an even pace.
  @GuardedBy("this")
  private Instant next;

  /// When the next `high` message would leave; only `high` may use the whole quota.
  @GuardedBy("this")
  private Instant nextHigh;

  /// The share of the quota in use at `from`, [#SLOWEST] to 1; it grows since then.
  @GuardedBy("this")
  private double level = SLOWEST;

  @GuardedBy("this")
  private double climbPerSecond = (1 - SLOWEST) / RAMP.toSeconds();

  @GuardedBy("this")
  private Instant from;

  @GuardedBy("this")
  private Instant restUntil = Instant.MIN;

  @GuardedBy("this")
  private Instant refusedAt = Instant.MIN;

  LocalSchedule(double perMinute, Clock clock) {
    this.clock = clock;
    this.mostPerSecond = perMinute / 60;
    this.next = clock.instant();
    this.nextHigh = next;
    this.from = next;
  }

  @Override
  public synchronized Answer take(Priority priority, int messages, Duration longestWait) {
    Instant now = clock.instant();
    if (restUntil.isAfter(now)) {
      return new Answer.None(Duration.between(now, restUntil));
    }
    if (Duration.between(later(next, restUntil), now).compareTo(RAMP) > 0) {
      // No message left for a while, though Google did not ask for that: the rate begins as for a
      // new sender.
      level = SLOWEST;
      climbPerSecond = (1 - SLOWEST) / RAMP.toSeconds();
      from = now;
    }
    double most = mostPerSecond * SHARE;
    long gapHigh = (long) (1e9 / most);
    long gapNormal = (long) (1e9 / (most * levelAt(now)));
    Instant earliest = now.minus(AHEAD);
    Instant begin = later(priority == Priority.HIGH ? nextHigh : next, earliest);
    Duration wait = Duration.between(now, begin);
    if (wait.compareTo(longestWait) > 0) {
      return new Answer.None(wait);
    }
    // `high` takes its room from `normal`.
    next = later(next, earliest).plusNanos(messages * gapNormal);
    if (priority == Priority.HIGH) {
      nextHigh = begin.plusNanos(messages * gapHigh);
      return new Answer.Places(wait, messages, gapHigh, new Outlook(most, most, 0));
    }
    return new Answer.Places(
        wait, messages, gapNormal, new Outlook(1e9 / gapNormal, most, most * climbPerSecond));
  }

  @Override
  public synchronized void refused(Duration rest) {
    Instant now = clock.instant();
    level = levelAt(now);
    if (refusedAt.plus(ONE_REFUSAL).isBefore(now)) {
      refusedAt = now;
      level = Math.max(SLOWEST, level * CUT);
      climbPerSecond = CLIMB_PER_SECOND;
    }
    restUntil = later(restUntil, now.plus(rest));
    from = restUntil;
  }

  @GuardedBy("this")
  private double levelAt(Instant now) {
    double seconds = Math.max(0, Duration.between(from, now).toNanos() / 1e9);
    return Math.min(1, level + climbPerSecond * seconds);
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }
}
