package io.pushplanet.gateway.schedule;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/// Repeats its work on a thread of its own, in rounds. It pauses between two rounds unless the work
/// says that there is more to do. A failed round is counted and tried again; of several failures in
/// a row only the first is logged. Thread-safe.
public final class PeriodicTask implements SmartLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(PeriodicTask.class);
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(2);

  /// How long a stop waits for the running round: as long as a round waits for the broker's
  /// confirm.
  private static final Duration LAST_ROUND = Duration.ofSeconds(10);

  private final String name;
  private final Duration pause;
  private final BooleanSupplier resting;
  private final Work work;
  private final MeterRegistry meters;
  private final int phase;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile @Nullable Thread thread;
  private volatile boolean running;

  /// One round.
  public interface Work {
    /// @return whether there may be more to do at once
    boolean run();
  }

  public PeriodicTask(String name, Duration pause, Work work, MeterRegistry meters) {
    this(name, pause, () -> false, work, meters);
  }

  /// @param resting while it says true, the task begins no round
  public PeriodicTask(
      String name, Duration pause, BooleanSupplier resting, Work work, MeterRegistry meters) {
    this(name, pause, resting, work, meters, DEFAULT_PHASE);
  }

  private PeriodicTask(
      String name,
      Duration pause,
      BooleanSupplier resting,
      Work work,
      MeterRegistry meters,
      int phase) {
    this.phase = phase;
    this.name = name;
    this.pause = pause;
    this.resting = resting;
    this.work = work;
    this.meters = meters;
  }

  /// Returns the same task in another phase: Spring starts it before the beans of the usual phase,
  /// and stops it after them.
  public PeriodicTask stoppingLast() {
    return new PeriodicTask(name, pause, resting, work, meters, DEFAULT_PHASE - 1);
  }

  @Override
  public int getPhase() {
    return phase;
  }

  @Override
  public void start() {
    running = true;
    thread = Thread.ofVirtual().name(name).start(this::run);
  }

  /// Begins no further round and waits for the running one, whose messages the broker has not
  /// confirmed yet.
  @Override
  public void stop() {
    beginNoMore();
    awaitEnd();
  }

  /// Returns as soon as the task begins no further round, so that all tasks end their last rounds
  /// side by side.
  @Override
  public void stop(Runnable stopped) {
    beginNoMore();
    Thread.ofVirtual()
        .name(name + "-stop")
        .start(() -> {
          try {
            awaitEnd();
          } finally {
            stopped.run();
          }
        });
  }

  private void beginNoMore() {
    running = false;
    closed.countDown();
  }

  private void awaitEnd() {
    Thread last = thread;
    try {
      if (last != null && !last.join(LAST_ROUND)) {
        LOG.warn("event=round_left name={}", name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  private void run() {
    boolean failing = false;
    try {
      while (running) {
        Duration wait = pause;
        try {
          if (!resting.getAsBoolean() && work.run()) {
            wait = Duration.ZERO;
          }
          failing = false;
        } catch (Throwable e) {
          // An Error too: if this thread ended, the work would stop until the process starts again.
          meters.counter("pushplanet.rounds.failed", "name", name).increment();
          if (!failing) {
            LOG.warn("event=round_failed name={} reason=\"{}\"", name, e.toString());
          }
          failing = true;
          wait =
              wait.compareTo(PAUSE_AFTER_FAILURE) > 0
                  ? PAUSE_AFTER_FAILURE.multipliedBy(15)
                  : PAUSE_AFTER_FAILURE;
        }
        if (!wait.isZero() && closed.await(wait.toMillis(), TimeUnit.MILLISECONDS)) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
