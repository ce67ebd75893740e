package io.pushplanet.cm.directory;

import io.pushplanet.common.lane.Pause;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs tasks one after the other on a thread of its own, with a least time between the beginnings
/// of two tasks, so that more work gathers for the next one. A lone task begins at once.
/// Thread-safe.
final class PacedWorker implements Executor, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PacedWorker.class);

  private final long apartNanos;
  private final ExecutorService thread;
  // Confined to that thread.
  private long notBeforeNanos = System.nanoTime();

  PacedWorker(String name, Duration apart) {
    this.apartNanos = apart.toNanos();
    this.thread =
        Executors.newSingleThreadExecutor(Thread.ofPlatform().name(name).daemon().factory());
  }

  @Override
  public void execute(Runnable task) {
    thread.execute(() -> {
      Pause.nanos(notBeforeNanos - System.nanoTime());
      notBeforeNanos = System.nanoTime() + apartNanos;
      try {
        task.run();
      } catch (RuntimeException bug) {
        LOG.error("event=worker_error", bug);
      }
    });
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
