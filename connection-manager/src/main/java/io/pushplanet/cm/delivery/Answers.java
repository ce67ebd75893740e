package io.pushplanet.cm.delivery;

import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;

/// Hears the outcomes of frames, from any thread.
public interface Answers {
  void answer(String frame, Outcome outcome);

  /// One of very many: told in as few words as that takes.
  default void delivered(String frame, int target) {
    answer(frame, new Outcome(target, Result.DELIVERED, null));
  }
}
