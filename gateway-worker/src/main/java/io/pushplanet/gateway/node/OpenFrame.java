package io.pushplanet.gateway.node;

import io.pushplanet.common.wire.NodeOutcomes;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// A frame whose targets are being answered. Thread-safe.
final class OpenFrame {
  private final int targets;
  private final Map<Integer, NodeOutcomes.Outcome> answers = new HashMap<>();
  private final CountDownLatch done = new CountDownLatch(1);

  OpenFrame(int targets) {
    this.targets = targets;
  }

  synchronized void settle(NodeOutcomes.Outcome outcome) {
    if (outcome.target() >= 0 && outcome.target() < targets) {
      answers.putIfAbsent(outcome.target(), outcome);
    }
    if (answers.size() == targets) {
      done.countDown();
    }
  }

  /// No more answers will come.
  void abandon() {
    done.countDown();
  }

  /// Waits until every target is answered, the connection is gone, or `atMost` is over.
  ///
  /// @return the answers by target; what is absent was not answered
  Map<Integer, NodeOutcomes.Outcome> await(Duration atMost) throws InterruptedException {
    done.await(Math.max(0, atMost.toMillis()), TimeUnit.MILLISECONDS);
    synchronized (this) {
      return Map.copyOf(answers);
    }
  }
}
