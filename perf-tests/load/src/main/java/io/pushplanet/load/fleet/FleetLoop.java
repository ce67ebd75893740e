package io.pushplanet.load.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread of a fleet: its selector, its tasks, its timers, and the reasons why connections
/// ended. Thread-safe unless stated otherwise.
final class FleetLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FleetLoop.class);
  private static final Duration TURN = Duration.ofMillis(20);
  private static final Duration COMMAND_WITHIN = Duration.ofMinutes(1);
  private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

  private final Selector selector;
  private final Duration looksEvery;
  private final Thread thread;
  private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final Map<String, LongAdder> reasons = new ConcurrentHashMap<>();
  private volatile boolean closed;

  // Confined to the thread.
  private final PriorityQueue<Due> dues = new PriorityQueue<>();
  private long turnNanos = System.nanoTime();
  private long nextSweepNanos = turnNanos;

  /// The fleet's part on the loop's thread.
  interface Crew {
    void ready(SelectionKey key);

    /// After the ready keys and the due tasks.
    default void turned() {}

    /// Once a second.
    void sweep(long nowNanos);

    /// The loop ends.
    void end();
  }

  private record Due(long nanos, Runnable work) implements Comparable<Due> {
    @Override
    public int compareTo(Due other) {
      return Long.compare(nanos - other.nanos, 0);
    }
  }

  private FleetLoop(String name, Crew crew, Selector selector, Duration looksEvery) {
    this.selector = selector;
    this.looksEvery = looksEvery;
    this.thread = Thread.ofPlatform().name(name).daemon(true).unstarted(() -> run(crew));
  }

  /// A loop that runs once it is started, and reads at once when bytes arrive.
  static FleetLoop of(String name, Crew crew) {
    return of(name, crew, Duration.ZERO);
  }

  /// @param looksEvery how long it sleeps before each read; zero: it does not sleep, but waits for
  ///     bytes
  static FleetLoop of(String name, Crew crew, Duration looksEvery) {
    try {
      return new FleetLoop(name, crew, Selector.open(), looksEvery);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot open a selector for the fleet", e);
    }
  }

  void start() {
    thread.start();
  }

  Selector selector() {
    return selector;
  }

  /// When the current turn's keys were ready: their order is unknown. For its thread.
  long turnNanos() {
    return turnNanos;
  }

  /// Schedules a task and returns at once.
  void tell(Runnable command) {
    commands.add(command);
    selector.wakeup();
  }

  /// Runs a task and returns once it is done.
  void ask(Runnable command) {
    CountDownLatch done = new CountDownLatch(1);
    tell(() -> {
      command.run();
      done.countDown();
    });
    try {
      if (!done.await(COMMAND_WITHIN.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("the fleet does not answer");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// For its thread.
  void after(long nanos, Runnable work) {
    dues.add(new Due(System.nanoTime() + nanos, work));
  }

  /// A closed socket keeps its descriptor until the selector has looked again. For its thread.
  void releaseClosed() {
    try {
      selector.selectNow();
    } catch (IOException e) {
      throw new UncheckedIOException("the fleet's selector does not look", e);
    }
  }

  void count(String reason) {
    reasons.computeIfAbsent(reason, _ -> new LongAdder()).increment();
  }

  /// The counted reasons and their numbers.
  Map<String, Long> reasons() {
    Map<String, Long> counts = new HashMap<>();
    reasons.forEach((reason, count) -> counts.put(reason, count.sum()));
    return counts;
  }

  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    try {
      thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(Crew crew) {
    try (selector) {
      while (!closed) {
        look();
        turnNanos = System.nanoTime();
        selector.selectedKeys().forEach(crew::ready);
        selector.selectedKeys().clear();
        for (Runnable next = commands.poll(); next != null; next = commands.poll()) {
          next.run();
        }
        long now = System.nanoTime();
        for (Due next = dues.peek(); next != null && next.nanos() - now <= 0; next = dues.peek()) {
          dues.remove();
          next.work().run();
        }
        crew.turned();
        if (now - nextSweepNanos >= 0) {
          nextSweepNanos = now + SWEEP_NANOS;
          crew.sweep(now);
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("event=fleet_died", e);
    } finally {
      crew.end();
    }
  }

  private void look() throws IOException {
    if (looksEvery.isZero()) {
      selector.select(TURN.toMillis());
    } else {
      LockSupport.parkNanos(looksEvery.toNanos());
      selector.selectNow();
    }
  }
}
