package io.pushplanet.cm.delivery;

import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;

/// Receives the outcomes of frames, from any thread.
public interface Answers {
  void answer(String frame, Outcome outcome);

  /// One of very many, answered in the shortest form.
  default void delivered(String frame, int target) {
    answer(frame, new Outcome(target, Result.DELIVERED, null));
  }
}
