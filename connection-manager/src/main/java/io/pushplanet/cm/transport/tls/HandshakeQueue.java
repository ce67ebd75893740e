package io.pushplanet.cm.transport.tls;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs the expensive part of TLS handshakes (key agreement, signature: about 1.2 ms of CPU) on a
/// few threads of its own, so that a storm of them occupies only those and never a loop.
///
/// The newest handshake comes first: in a queue that is longer than clients' patience, first in,
/// first out would serve only clients that have given up
/// (https://github.com/memcached/memcached/issues/1139). A handshake whose client has closed costs
/// nothing. When the queue is full, its oldest handshake is given up instead of the newest being
/// refused (https://github.com/openziti/ziti/issues/1904). Thread-safe; its lock is held for one
/// list operation per handshake.
public final class HandshakeQueue implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HandshakeQueue.class);

  private final LinkedBlockingDeque<Handshake> waiting;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong abandoned = new AtomicLong();
  private final AtomicLong givenUp = new AtomicLong();

  /// @param tasks the blocking work
  /// @param wanted false once the client has gone
  /// @param whenDone called on the queue's thread
  /// @param whenGivenUp called on the thread that filled the queue, or on the queue's thread when
  ///     an Error ended the work
  public record Handshake(
      Runnable tasks, BooleanSupplier wanted, Runnable whenDone, Runnable whenGivenUp) {}

  /// @param threadCount handshakes worked on at once
  /// @param mostWaiting handshakes that may wait
  public HandshakeQueue(int threadCount, int mostWaiting) {
    waiting = new LinkedBlockingDeque<>(mostWaiting);
    for (int number = 0; number < threadCount; number++) {
      threads.add(Thread.ofPlatform().name("cm-tls-" + number).daemon().unstarted(this::work));
    }
  }

  public void start() {
    threads.forEach(Thread::start);
  }

  /// Puts the handshake at the head of the queue. Never blocks. Returns false if another handshake
  /// lost its place.
  public boolean add(Handshake handshake) {
    boolean had = true;
    while (!waiting.offerFirst(handshake)) {
      Handshake oldest = waiting.pollLast();
      if (oldest != null) {
        had = false;
        givenUp.incrementAndGet();
        oldest.whenGivenUp().run();
      }
    }
    return had;
  }

  public int waiting() {
    return waiting.size();
  }

  public int running() {
    return running.get();
  }

  /// Handshakes whose work was done.
  public long done() {
    return done.get();
  }

  /// Handshakes whose client had gone before their turn, so that no work was spent on them.
  public long abandoned() {
    return abandoned.get();
  }

  /// Handshakes that lost their place to newer ones.
  public long givenUp() {
    return givenUp.get();
  }

  private void work() {
    try {
      while (true) {
        Handshake next = waiting.takeFirst();
        try {
          workOn(next);
        } catch (RuntimeException | Error broken) {
          report(broken);
        }
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  /// The thread must stay for the next handshakes. Logging allocates, so it fails, too, when memory
  /// has run out.
  private static void report(Throwable broken) {
    try {
      LOG.error("event=handshake_worker_error", broken);
    } catch (RuntimeException | Error _) {
      // Nothing is left to tell it to.
    }
  }

  private void workOn(Handshake handshake) {
    if (!handshake.wanted().getAsBoolean()) {
      abandoned.incrementAndGet();
      return;
    }
    running.incrementAndGet();
    try {
      handshake.tasks().run();
    } catch (RuntimeException refused) {
      // The engine keeps the failure and throws it on its loop, where the connection is closed.
      LOG.debug("event=handshake_task_failed reason=\"{}\"", refused.getMessage());
    } catch (Error broken) {
      // Otherwise the engine would wait for this task for ever.
      handshake.whenGivenUp().run();
      LOG.error("event=handshake_task_error", broken);
      return;
    } finally {
      running.decrementAndGet();
    }
    done.incrementAndGet();
    handshake.whenDone().run();
  }

  @Override
  public void close() {
    threads.forEach(Thread::interrupt);
    waiting.clear();
  }
}
