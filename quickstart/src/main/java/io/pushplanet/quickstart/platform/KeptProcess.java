package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.process.Readiness;
import java.util.function.Supplier;

/// One process that [Upkeep] watches. Confined to the thread that does.
final class KeptProcess {
  /// A start may fail because another process has died, so the first failure ends nothing.
  static final int MAX_STARTS = 3;

  private static final int LINES_OF_A_DEATH = 15;

  private final Supplier<ChildProcess> process;
  private final Supplier<Readiness> starter;
  private final Progress progress;
  private State state = new State.Up();
  private int failedStarts;

  /// @param process the present process, running or ended
  /// @param starter starts it anew, without waiting until it is ready
  KeptProcess(Supplier<ChildProcess> process, Supplier<Readiness> starter, Progress progress) {
    this.process = process;
    this.starter = starter;
    this.progress = progress;
  }

  sealed interface State {
    /// Ready when it was last asked.
    record Up() implements State {}

    /// Ended, and not started again yet.
    record Dead() implements State {}

    /// Running, and not ready yet.
    record Starting(Readiness readiness) implements State {}
  }

  State state() {
    return state;
  }

  boolean isUp() {
    return state instanceof State.Up;
  }

  boolean isDead() {
    return state instanceof State.Dead;
  }

  String name() {
    return process.get().name();
  }

  /// `Redis died with exit code 137`.
  String death() {
    return name() + " died with exit code " + process.get().exitCode();
  }

  /// What is waited for, for people.
  String awaited() {
    return switch (state) {
      case State.Up() -> name() + " (ready)";
      case State.Dead() -> name() + " (starts when all servers are ready)";
      case State.Starting(Readiness readiness) ->
          "%s (%d s left)".formatted(name(), Math.max(0, readiness.left().toSeconds()));
    };
  }

  /// Notices a death, or asks a starting process once.
  ///
  /// @throws ProcessFailed when the last of its starts has failed
  void look() {
    switch (state) {
      case State.Up() -> {
        if (!process.get().isRunning()) {
          tellDeath(process.get());
          state = new State.Dead();
        }
      }
      case State.Starting(Readiness readiness) -> ask(readiness);
      case State.Dead() -> {}
    }
  }

  /// Starts a dead process, without waiting until it is ready.
  ///
  /// @throws ProcessFailed when the last of its starts has failed
  void start() {
    progress.tell("starting " + name() + " again");
    try {
      state = new State.Starting(starter.get());
    } catch (ProcessFailed e) {
      startHasFailed(e);
    }
  }

  private void ask(Readiness readiness) {
    try {
      if (readiness.isReached()) {
        state = new State.Up();
        failedStarts = 0;
        progress.tell(
            "  %s is ready after %.1f s".formatted(name(), readiness.passed().toMillis() / 1e3));
      }
    } catch (ProcessFailed e) {
      startHasFailed(e);
    }
  }

  private void startHasFailed(ProcessFailed failure) {
    state = new State.Dead();
    failedStarts++;
    progress.tell("start %d of %d: %s".formatted(failedStarts, MAX_STARTS, failure.getMessage()));
    if (failedStarts == MAX_STARTS) {
      throw new ProcessFailed(
          "%s did not become ready in %d starts".formatted(name(), MAX_STARTS), failure);
    }
  }

  private void tellDeath(ChildProcess dead) {
    progress.tell(
        "%s (process %d) died with exit code %d. Its last log lines, from %s:%n%s"
            .formatted(
                dead.name(),
                dead.pid(),
                dead.exitCode(),
                dead.command().log(),
                dead.lastLogLines(LINES_OF_A_DEATH)));
  }
}
