package io.pushplanet.gateway.node;

import io.pushplanet.common.wire.NodeOutcomes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A frame whose targets are being answered. The connection's thread puts answers in, and one other
/// thread takes them out as they come. The queue holds at most as many answers as the node sends
/// for the frame's targets.
final class PendingFrame {
  private static final List<NodeOutcomes.Outcome> NO_MORE = List.of();

  private final BlockingQueue<List<NodeOutcomes.Outcome>> arrived = new LinkedBlockingQueue<>();

  /// Confined to the thread that takes answers out.
  private final BitSet unanswered;

  PendingFrame(int targets) {
    unanswered = new BitSet(targets);
    unanswered.set(0, targets);
  }

  void settle(List<NodeOutcomes.Outcome> outcomes) {
    if (!outcomes.isEmpty()) {
      arrived.add(outcomes);
    }
  }

  /// No more answers will come.
  void abandon() {
    arrived.add(NO_MORE);
  }

  /// The next answers, each target once. Empty when every target is answered, the connection is
  /// gone, or `atMost` is over.
  List<NodeOutcomes.Outcome> next(Duration atMost) throws InterruptedException {
    long endNanos = System.nanoTime() + Math.max(0, atMost.toNanos());
    while (!unanswered.isEmpty()) {
      List<NodeOutcomes.Outcome> some =
          arrived.poll(Math.max(0, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
      if (some == null || some.isEmpty()) {
        return List.of();
      }
      List<NodeOutcomes.Outcome> first = firstAnswers(some);
      if (!first.isEmpty()) {
        return first;
      }
    }
    return List.of();
  }

  private List<NodeOutcomes.Outcome> firstAnswers(List<NodeOutcomes.Outcome> some) {
    List<NodeOutcomes.Outcome> first = new ArrayList<>(some.size());
    for (NodeOutcomes.Outcome outcome : some) {
      if (outcome.target() >= 0 && unanswered.get(outcome.target())) {
        unanswered.clear(outcome.target());
        first.add(outcome);
      }
    }
    return first;
  }

  /// The targets that [#next] has not returned.
  List<NodeOutcomes.Outcome> unanswered(String reason) {
    return unanswered.stream()
        .mapToObj(target -> new NodeOutcomes.Outcome(target, NodeOutcomes.Result.TIMEOUT, reason))
        .toList();
  }
}
