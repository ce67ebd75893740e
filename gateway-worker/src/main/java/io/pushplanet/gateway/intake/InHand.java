package io.pushplanet.gateway.intake;

import com.rabbitmq.client.Connection;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// How many messages a consumer has in hand over all its queues, and when it sent its last answer
/// to the broker. It tells when the connection may be closed. Thread-safe.
final class InHand {
  /// How long a stop waits for the messages in hand: longer than `Nodes` waits for a device.
  private static final Duration DRAIN = Duration.ofSeconds(12);

  /// How long RabbitMQ takes to apply an answer. A channel has 32 answers of a quorum queue on
  /// their way to its log, and holds back further ones until these are written: some milliseconds,
  /// or as long as a slow disk takes for two commits.
  static final Duration APPLIED = Duration.ofSeconds(1);

  private final AtomicInteger messages = new AtomicInteger();
  private final AtomicLong answeredNanos = new AtomicLong(System.nanoTime() - APPLIED.toNanos());

  int messages() {
    return messages.get();
  }

  void take() {
    messages.incrementAndGet();
  }

  void done() {
    messages.decrementAndGet();
  }

  void answered() {
    answeredNanos.set(System.nanoTime());
  }

  /// Returns when no message is in hand and the last answer is [#APPLIED] ago. After [#DRAIN] it
  /// waits only for that last answer. It returns sooner when the connection is lost or this thread
  /// is interrupted, and leaves the interrupt flag set.
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
