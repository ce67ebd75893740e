package io.pushplanet.load.measure;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.node.Gateway.Addressed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/// Messages to devices that may be away, each sent again and again until a node has called it
/// delivered, as a gateway does; and the account of them. Thread-safe.
public final class RepeatedMessages {
  /// After the first outcome that is not a delivery. Each further pause is twice as long, up to
  /// [#LONGEST_PAUSE_NANOS]: a gateway does not ask for an absent device again and again.
  static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

  static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(8).toNanos();

  @GuardedBy("this")
  private final Map<MessageId, Course> courses = new HashMap<>();

  @GuardedBy("this")
  private final PriorityQueue<Course> due =
      new PriorityQueue<>((one, other) -> Long.compare(one.dueNanos - other.dueNanos, 0));

  @GuardedBy("this")
  private final Map<Result, Long> results = new HashMap<>();

  @GuardedBy("this")
  private int delivered;

  @GuardedBy("this")
  private int unasked;

  /// What became of one message so far.
  private static final class Course {
    final Addressed message;
    long dueNanos;
    int tries;
    boolean waits;
    boolean delivered;

    Course(Addressed message, long dueNanos) {
      this.message = message;
      this.dueNanos = dueNanos;
    }
  }

  /// The account of all messages.
  ///
  /// @param atOnce delivered at the first try
  /// @param later delivered at another one
  /// @param repeats tries after the first ones
  /// @param mostRepeats of one message
  /// @param notHere outcomes that told that the device is away
  /// @param timeouts and that it did not acknowledge in time
  /// @param refused and any other
  /// @param unanswered messages whose last try has no outcome
  /// @param undelivered messages whose last outcome is not a delivery, these included
  /// @param received by their devices, each counted once
  /// @param lost never received by their devices
  /// @param untrue lost, and called delivered
  /// @param again received more than once, as the acknowledgement was cut off
  /// @param surplus received more often than they were sent, which nothing excuses
  /// @param unasked outcomes beyond one for each try
  public record Account(
      int messages,
      int atOnce,
      int later,
      int repeats,
      int mostRepeats,
      long notHere,
      long timeouts,
      long refused,
      int unanswered,
      int undelivered,
      int received,
      int lost,
      int untrue,
      int again,
      int surplus,
      int unasked) {}

  /// Another message, to be sent at that time, of the same clock as all other times.
  public synchronized void add(Addressed message, long dueNanos) {
    Course course = new Course(message, dueNanos);
    courses.put(message.id(), course);
    due.add(course);
  }

  /// Those whose time has come, at most this many, the longest due first. The caller sends them.
  public synchronized List<Addressed> due(long nowNanos, int most) {
    List<Addressed> some = new ArrayList<>();
    for (Course next = due.peek();
        next != null && next.dueNanos - nowNanos <= 0 && some.size() < most;
        next = due.peek()) {
      due.remove();
      next.tries++;
      next.waits = true;
      some.add(next.message);
    }
    return some;
  }

  /// The outcome of the last try.
  public synchronized void told(MessageId id, Result result, long nowNanos) {
    Course course = courses.get(id);
    if (course == null || !course.waits) {
      unasked++;
      return;
    }
    results.merge(result, 1L, Long::sum);
    course.waits = false;
    if (result == Result.DELIVERED) {
      course.delivered = true;
      delivered++;
    } else {
      course.dueNanos = nowNanos + pauseNanos(course.tries);
      due.add(course);
    }
  }

  private static long pauseNanos(int tries) {
    return Math.min(LONGEST_PAUSE_NANOS, PAUSE_NANOS << Math.min(tries - 1, 8));
  }

  /// Whether all are delivered.
  public synchronized boolean isDone() {
    return delivered == courses.size();
  }

  /// Compares the outcomes with what the devices have seen.
  public synchronized Account account(Sightings seen) {
    int atOnce = 0;
    int repeats = 0;
    int mostRepeats = 0;
    int unanswered = 0;
    int received = 0;
    int untrue = 0;
    int again = 0;
    int surplus = 0;
    for (Course course : courses.values()) {
      int times = seen.times(course.message.device().id(), course.message.id().value());
      atOnce += course.delivered && course.tries == 1 ? 1 : 0;
      repeats += Math.max(0, course.tries - 1);
      mostRepeats = Math.max(mostRepeats, course.tries - 1);
      unanswered += course.waits ? 1 : 0;
      received += times > 0 ? 1 : 0;
      untrue += times == 0 && course.delivered ? 1 : 0;
      again += times > 1 ? 1 : 0;
      surplus += times > course.tries ? 1 : 0;
    }
    return new Account(
        courses.size(),
        atOnce,
        delivered - atOnce,
        repeats,
        mostRepeats,
        results.getOrDefault(Result.NOT_HERE, 0L),
        results.getOrDefault(Result.TIMEOUT, 0L),
        results.getOrDefault(Result.REFUSED, 0L),
        unanswered,
        courses.size() - delivered,
        received,
        courses.size() - received,
        untrue,
        again,
        surplus,
        unasked);
  }
}
