package io.pushplanet.cm.simulator;

import java.time.Instant;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/// Virtual time and its events. Everything runs on the caller's thread; two worlds with the same
/// seed have exactly the same events.
final class World {
  private static final long START_MILLIS = Instant.parse("2026-11-21T10:00:00Z").toEpochMilli();
  private static final int DEEPEST = 3;
  private static final boolean TOLD = Long.getLong("seed") != null;

  final SplittableRandom random;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long nowMicros;
  private long scheduled;
  private int depth;

  private record Event(long atMicros, long number, Runnable what) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(atMicros, other.atMicros);
      return byTime == 0 ? Long.compare(number, other.number) : byTime;
    }
  }

  World(long seed) {
    random = new SplittableRandom(seed);
  }

  /// A line of the story, printed when a single seed is run.
  void tell(String who, Object what) {
    if (TOLD) {
      System.out.printf("%9.3f %-10s %s%n", nowMicros / 1e6, who, what);
    }
  }

  long nowMillis() {
    return START_MILLIS + nowMicros / 1_000;
  }

  long nowNanos() {
    return nowMicros * 1_000;
  }

  long nowMicros() {
    return nowMicros;
  }

  long events() {
    return scheduled;
  }

  boolean chance(double probability) {
    return random.nextDouble() < probability;
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  /// Between `least` and `most` milliseconds from now.
  void after(long leastMillis, long mostMillis, Runnable what) {
    long micros = leastMillis * 1_000 + random.nextLong((mostMillis - leastMillis) * 1_000 + 1);
    at(nowMicros + micros, what);
  }

  void at(long micros, Runnable what) {
    events.add(new Event(Math.max(micros, nowMicros), scheduled++, what));
  }

  void runUntilMillis(long sinceStart) {
    while (!events.isEmpty() && events.peek().atMicros() <= sinceStart * 1_000) {
      step();
    }
    nowMicros = Math.max(nowMicros, sinceStart * 1_000);
  }

  /// A process waits for an answer: the events of others happen meanwhile.
  void interleave() {
    if (depth == DEEPEST) {
      return;
    }
    depth++;
    try {
      for (int left = random.nextInt(4); left > 0 && !events.isEmpty(); left--) {
        step();
      }
    } finally {
      depth--;
    }
  }

  /// A process is stopped in the middle of a task: the events of others happen until it continues.
  void passWhile(BooleanSupplier stopped) {
    while (stopped.getAsBoolean() && !events.isEmpty()) {
      step();
    }
  }

  private void step() {
    var next = events.remove();
    nowMicros = Math.max(nowMicros, next.atMicros());
    next.what().run();
  }
}
