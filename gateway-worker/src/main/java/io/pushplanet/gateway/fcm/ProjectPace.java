package io.pushplanet.gateway.fcm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.fcm.Schedule.Outlook;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/// When the next message of one Firebase project may leave. Google fills a project's quota anew
/// every minute, at an unknown second
/// (https://firebase.google.com/docs/cloud-messaging/throttling-and-quotas). So messages leave
/// evenly, which keeps to the quota wherever the minute begins.
///
/// - All workers share one [Schedule]. Each takes several places of it at a time, as many as it has
///   just used up, for at most [#LONGEST_LEASE].
/// - `normal` leaves at [Schedule#SHARE] of the quota at most. `high` leaves at once, and takes its
///   room from `normal`.
/// - After a pause the rate climbs within [Schedule#RAMP]. After a 429 for the project all messages
///   rest for as long as Google asks (at most [#LONGEST_REST]), and the rate is lowered by
///   [Schedule#CUT] and climbs again by [Schedule#CLIMB_PER_SECOND].
/// - A message that would wait longer than [Schedule#LONGEST_WAIT] waits outside of the worker, and
///   comes back when the climbing rate will have reached it. No new message overtakes it meanwhile,
///   unless the messages that are due do not come.
///
/// Thread-safe; nothing here waits except for the schedule.
final class ProjectPace {
  static final Duration LONGEST_LEASE = Duration.ofMillis(100);

  /// No single answer holds other messages up for longer than this, whatever it asks for: if Google
  /// means it, the project is refused again.
  private static final Duration LONGEST_REST = Duration.ofMinutes(15);

  /// Messages are called back so much faster than the rate: some come late or find no place, and no
  /// place is to stay empty.
  private static final double SOONER = 1.1;

  /// Messages that were due and have not come for so long will not come: they were cancelled, or
  /// have expired.
  static final Duration LOST_AFTER = Duration.ofSeconds(2);

  private final Schedule schedule;
  private final Clock clock;

  @GuardedBy("this")
  private final Map<Priority, Lease> leases = new EnumMap<>(Priority.class);

  /// What a message may do.
  sealed interface Turn {
    /// It has a place, and leaves after so long.
    record After(Duration delay) implements Turn {}

    /// It has no place, and asks again after so long.
    record Rest(Duration delay) implements Turn {}
  }

  /// The places that this worker has, and the messages that it sent away.
  private static final class Lease {
    /// When the next message leaves.
    Instant next;

    /// When the first of the messages that were sent away, without a gap between them, comes back.
    Instant firstBack;

    /// The next message that is sent away comes back not before this.
    Instant nextBack;

    /// When a message that came back asked last.
    Instant cameBack;

    int left;
    int used;
    int wanted = 1;

    long gapNanos;

    /// A guess until the schedule tells.
    Outlook outlook = new Outlook(1_000, 1_000, 0);

    /// When the schedule told the outlook.
    Instant told;

    Lease(Instant now) {
      next = now;
      firstBack = now;
      nextBack = now;
      cameBack = now;
      told = now;
    }
  }

  /// A project to which only this worker sends.
  ///
  /// @param perMinute the project's quota
  ProjectPace(int perMinute, Clock clock) {
    this(new LocalSchedule(perMinute, clock), clock);
  }

  ProjectPace(Schedule schedule, Clock clock) {
    this.schedule = schedule;
    this.clock = clock;
  }

  /// Whether other messages wait before this one, and when it is to ask again. Does not ask the
  /// schedule.
  ///
  /// @param back whether it was sent away before
  /// @param left of its time to live
  synchronized Optional<Duration> putOff(Priority priority, boolean back, Duration left) {
    Lease lease = leases.get(priority);
    if (lease == null) {
      return Optional.empty();
    }
    Instant now = clock.instant();
    if (back) {
      lease.cameBack = now;
      return Optional.empty();
    }
    forgetTheLost(lease, now);
    return lease.nextBack.isAfter(now.plus(Schedule.LONGEST_WAIT))
        ? Optional.of(sentAway(lease, now, Duration.ZERO, left).delay())
        : Optional.empty();
  }

  /// @param back whether it was sent away before
  /// @param left of its time to live
  synchronized Turn turn(Priority priority, boolean back, Duration left) {
    Optional<Duration> putOff = putOff(priority, back, left);
    if (putOff.isPresent()) {
      return new Turn.Rest(putOff.get());
    }
    Instant now = clock.instant();
    Lease lease = leases.computeIfAbsent(priority, _ -> new Lease(now));
    letGo(lease, now);
    if (lease.left == 0) {
      switch (schedule.take(
          priority, lease.wanted, back ? Schedule.LONGEST_WAIT_AGAIN : Schedule.LONGEST_WAIT)) {
        case Schedule.Answer.None(Duration wait) -> {
          return sentAway(lease, now, wait, left);
        }
        case Schedule.Answer.Places(
                Duration startsIn,
                int messages,
                long gapNanos,
                Outlook outlook) -> {
          lease.next = now.plus(startsIn);
          lease.left = messages;
          lease.used = 0;
          lease.gapNanos = gapNanos;
          lease.outlook = outlook;
          lease.told = now;
          int most = (int) Math.max(1, LONGEST_LEASE.toNanos() / gapNanos);
          lease.wanted = Math.min(most, 2 * messages);
        }
      }
    }
    Duration wait = Duration.between(now, lease.next);
    lease.next = lease.next.plusNanos(lease.gapNanos);
    lease.left--;
    lease.used++;
    return new Turn.After(wait.isNegative() ? Duration.ZERO : wait);
  }

  /// Drops places whose time is over: using them now would be too fast. A worker that did not use
  /// its places gets fewer.
  private static void letGo(Lease lease, Instant now) {
    long late = Duration.between(lease.next, now.minus(Schedule.AHEAD)).toNanos();
    if (lease.left > 0 && late > 0) {
      long over = Math.min(lease.left, 1 + late / lease.gapNanos);
      lease.next = lease.next.plusNanos(over * lease.gapNanos);
      lease.left -= (int) over;
      lease.wanted = Math.max(1, lease.used);
    }
  }

  /// Lets new messages go ahead of messages that will not come.
  private static void forgetTheLost(Lease lease, Instant now) {
    Instant lastSign = lease.cameBack.isAfter(lease.firstBack) ? lease.cameBack : lease.firstBack;
    if (lease.nextBack.isAfter(now) && lastSign.plus(LOST_AFTER).isBefore(now)) {
      lease.nextBack = now;
    }
  }

  /// Messages come back one after the other, a little sooner than the outlook says. A message that
  /// will have expired by then needs no place.
  private static Turn.Rest sentAway(Lease lease, Instant now, Duration wait, Duration left) {
    Instant at = now.plus(wait);
    boolean behindOthers = lease.nextBack.isAfter(at);
    if (behindOthers) {
      at = lease.nextBack;
    }
    Duration delay = Duration.between(now, at);
    if (delay.compareTo(left) < 0) {
      lease.firstBack = behindOthers ? lease.firstBack : at;
      double ahead = Duration.between(lease.told, at).toNanos() / 1e9;
      lease.nextBack = at.plusNanos((long) (lease.outlook.gapNanos(ahead) / SOONER));
    }
    return new Turn.Rest(delay);
  }

  /// Google said that the project has sent too much.
  synchronized void refused(Duration rest) {
    leases.values().forEach(lease -> lease.left = 0);
    schedule.refused(rest.compareTo(LONGEST_REST) > 0 ? LONGEST_REST : rest);
  }
}
