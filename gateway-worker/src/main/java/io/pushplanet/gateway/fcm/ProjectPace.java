package io.pushplanet.gateway.fcm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.Priority;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/// When the next message of one Firebase project may leave. Google fills a project's quota anew every minute, at a second that
/// nobody tells (https://firebase.google.com/docs/cloud-messaging/throttling-and-quotas): so messages leave evenly, which keeps to
/// it wherever the minute begins.
///
/// - `normal` leaves at [#SHARE] of the quota at most, `high` at once, and takes its room from `normal`.
/// - After a pause the rate climbs from a tenth to the whole within [#RAMP], as Google asks
///   (https://firebase.google.com/docs/cloud-messaging/scale-fcm).
/// - A 429 for the project lets everything rest for as long as Google asks, and lowers the rate by [#CUT]; it climbs again by
///   [#CLIMB_PER_SECOND]. So several workers, or another sender of the same project, come to share the quota.
///
/// Thread-safe; nothing here waits.
final class ProjectPace {
  static final double SHARE = 0.99;
  static final Duration RAMP = Duration.ofSeconds(60);
  static final double CUT = 0.7;
  static final double CLIMB_PER_SECOND = 0.002;

  /// Who would have to wait longer does so outside of the worker.
  static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

  private static final double SLOWEST = 0.1;

  /// So much may leave ahead of its time: messages come in batches.
  private static final Duration AHEAD = Duration.ofMillis(50);

  /// Refusals of requests that were under way together are one refusal.
  private static final Duration ONE_REFUSAL = Duration.ofSeconds(1);

  private final Clock clock;
  private final double mostPerSecond;

  /// When the next `normal` would leave at an even pace.
  @GuardedBy("this")
  private Instant next;

  /// The same for `high`, which alone may use the whole quota.
  @GuardedBy("this")
  private Instant nextHigh;

  /// Part of the quota that is used now, [#SLOWEST] to 1.
  @GuardedBy("this")
  private double level = SLOWEST;

  @GuardedBy("this")
  private double climbPerSecond = (1 - SLOWEST) / RAMP.toSeconds();

  @GuardedBy("this")
  private Instant climbedUntil;

  @GuardedBy("this")
  private Instant restUntil = Instant.MIN;

  @GuardedBy("this")
  private Instant refusedAt = Instant.MIN;

  /// What a message may do.
  sealed interface Turn {
    /// It has its place: it leaves after so long.
    record After(Duration delay) implements Turn {}

    /// It has none: it asks again after so long.
    record Rest(Duration delay) implements Turn {}
  }

  /// @param perMinute the project's quota
  ProjectPace(int perMinute, Clock clock) {
    this.clock = clock;
    this.mostPerSecond = perMinute / 60.0;
    this.next = clock.instant();
    this.nextHigh = next;
    this.climbedUntil = next;
  }

  synchronized Turn turn(Priority priority) {
    Instant now = clock.instant();
    if (restUntil.isAfter(now)) {
      return new Turn.Rest(Duration.between(now, restUntil));
    }
    climb(now);
    return priority == Priority.HIGH ? high(now) : normal(now);
  }

  @GuardedBy("this")
  private Turn normal(Instant now) {
    Instant begin = later(next, now.minus(AHEAD));
    Duration wait = Duration.between(now, begin);
    if (wait.compareTo(LONGEST_WAIT) > 0) {
      return new Turn.Rest(wait);
    }
    next = begin.plusNanos(gapNanos(level * SHARE));
    return new Turn.After(positive(wait));
  }

  @GuardedBy("this")
  private Turn high(Instant now) {
    Instant begin = later(nextHigh, now.minus(AHEAD));
    Duration wait = Duration.between(now, begin);
    if (wait.compareTo(LONGEST_WAIT) > 0) {
      return new Turn.Rest(wait);
    }
    nextHigh = begin.plusNanos(gapNanos(SHARE));
    next = later(next, now.minus(AHEAD)).plusNanos(gapNanos(level * SHARE));
    return new Turn.After(positive(wait));
  }

  /// Google said that the project has sent too much.
  synchronized void refused(Duration rest) {
    Instant now = clock.instant();
    restUntil = later(restUntil, now.plus(rest));
    if (refusedAt.plus(ONE_REFUSAL).isBefore(now)) {
      refusedAt = now;
      level = Math.max(SLOWEST, level * CUT);
      climbPerSecond = CLIMB_PER_SECOND;
    }
    climbedUntil = restUntil;
  }

  @GuardedBy("this")
  private void climb(Instant now) {
    if (Duration.between(next, now).compareTo(RAMP) > 0) {
      // Nothing left for a while: like a new sender.
      level = SLOWEST;
      climbPerSecond = (1 - SLOWEST) / RAMP.toSeconds();
      climbedUntil = now;
      return;
    }
    if (now.isAfter(climbedUntil)) {
      double seconds = Duration.between(climbedUntil, now).toNanos() / 1e9;
      level = Math.min(1, level + climbPerSecond * seconds);
      climbedUntil = now;
    }
  }

  private long gapNanos(double share) {
    return (long) (1e9 / (mostPerSecond * share));
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  private static Duration positive(Duration wait) {
    return wait.isNegative() ? Duration.ZERO : wait;
  }
}
