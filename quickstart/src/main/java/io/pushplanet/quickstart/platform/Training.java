package io.pushplanet.quickstart.platform;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Trains programs one after the other. One that fails does not keep the others from theirs:
/// without a class cache it works as well, but starts more slowly.
final class Training {
  private Training() {}

  /// @param train makes the class cache of a program
  /// @throws RuntimeException of the training during which this thread was interrupted
  static void of(List<Program> programs, Consumer<Program> train, Progress progress) {
    progress.tell(
        "while nobody else wants the processor: learning the programs' classes, once after each build");
    var failed = new ArrayList<Program>();
    for (Program program : programs) {
      try {
        train.accept(program);
      } catch (RuntimeException e) {
        if (Thread.currentThread().isInterrupted()) {
          throw e;
        }
        failed.add(program);
        progress.tell(
            "  the classes of %s are not learnt, so its next start takes as long: %s"
                .formatted(program.text(), e.getMessage()));
      }
    }
    if (failed.size() < programs.size()) {
      progress.tell(
          failed.isEmpty()
              ? "the classes are learnt; the next start takes half the time"
              : "the other classes are learnt");
    }
  }
}
