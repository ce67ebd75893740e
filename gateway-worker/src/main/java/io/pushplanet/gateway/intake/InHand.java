package io.pushplanet.gateway.intake;

import com.rabbitmq.client.Connection;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// What a consumer has in hand of all its queues, and when it sent its last answer to the broker: it says when a connection may
/// be left. Thread-safe.
final class InHand {
  /// So long what is in hand is waited for, longer than a device (`Nodes`).
  private static final Duration DRAIN = Duration.ofSeconds(12);

  /// A channel of RabbitMQ has 32 answers of a quorum queue under way to its log, and keeps further ones until these are
  /// there: some ms, and as many as a slow disk takes for two commits.
  static final Duration APPLIED = Duration.ofSeconds(1);

  private final AtomicInteger messages = new AtomicInteger();
  private final AtomicLong answeredNanos = new AtomicLong(System.nanoTime() - APPLIED.toNanos());

  int messages() {
    return messages.get();
  }

  /// One more.
  void take() {
    messages.incrementAndGet();
  }

  /// One fewer.
  void done() {
    messages.decrementAndGet();
  }

  /// An answer was sent just now.
  void answered() {
    answeredNanos.set(System.nanoTime());
  }

  /// Returns when nothing is in hand and the last answer is [#APPLIED] ago; after [#DRAIN] it waits for no more than that answer.
  /// Sooner where the connection is lost or this thread interrupted, which it stays.
  void awaitAnswers(Connection connection) {
    long end = System.nanoTime() + DRAIN.toNanos();
    try {
      while (connection.isOpen() && stillAnswering(end)) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean stillAnswering(long end) {
    long now = System.nanoTime();
    boolean justAnswered = now - answeredNanos.get() < APPLIED.toNanos();
    return now - end < 0
        ? justAnswered || messages.get() > 0
        : justAnswered && now - end < APPLIED.toNanos();
  }
}
