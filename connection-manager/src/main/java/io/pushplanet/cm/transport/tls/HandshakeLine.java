package io.pushplanet.cm.transport.tls;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The expensive part of TLS handshakes (key agreement, signature: about 1.2 ms of CPU) on a few threads of its own, so
/// that a storm of them takes only those and never a loop.
///
/// Newest first: in a line that is longer than clients are patient, first come first served means that only those are
/// served who have given up already (https://github.com/memcached/memcached/issues/1139). Who has closed meanwhile costs
/// nothing. When the line is full its oldest is given up, not the newest refused
/// (https://github.com/openziti/ziti/issues/1904). Thread-safe; its lock is held for one list operation per handshake.
public final class HandshakeLine implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HandshakeLine.class);

  private final LinkedBlockingDeque<Handshake> waiting;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong abandoned = new AtomicLong();
  private final AtomicLong givenUp = new AtomicLong();

  /// @param tasks the blocking work
  /// @param wanted false once the client has gone
  /// @param whenDone told from the line's thread
  /// @param whenGivenUp told from whichever thread filled the line, or from the line's when an Error ended the work
  public record Handshake(
      Runnable tasks,
      java.util.function.BooleanSupplier wanted,
      Runnable whenDone,
      Runnable whenGivenUp) {}

  /// @param threadCount handshakes worked on at once
  /// @param mostWaiting handshakes in line
  public HandshakeLine(int threadCount, int mostWaiting) {
    waiting = new LinkedBlockingDeque<>(mostWaiting);
    for (int number = 0; number < threadCount; number++) {
      threads.add(Thread.ofPlatform().name("cm-tls-" + number).daemon().unstarted(this::work));
    }
  }

  public void start() {
    threads.forEach(Thread::start);
  }

  /// Puts it at the head of the line. Never blocks. False when that cost another one its place.
  public boolean add(Handshake handshake) {
    boolean had = true;
    while (!waiting.offerFirst(handshake)) {
      var oldest = waiting.pollLast();
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

  /// Handshakes whose client had gone before their turn, so that no work was spent.
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
        workOn(waiting.takeFirst());
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
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
      // The engine keeps what went wrong and says it on its loop, where the connection is closed.
      LOG.debug("event=handshake_task_failed reason=\"{}\"", refused.getMessage());
    } catch (Error broken) {
      // The engine would wait for this task for ever.
      LOG.error("event=handshake_task_error", broken);
      handshake.whenGivenUp().run();
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
