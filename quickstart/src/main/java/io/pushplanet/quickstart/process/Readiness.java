package io.pushplanet.quickstart.process;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Waits until a child answers, and gives up at once when it has died.
public final class Readiness {
  private static final Duration PAUSE = Duration.ofMillis(50);

  private Readiness() {}

  /// A question to a child: throws, or says false, while it is not ready.
  @FunctionalInterface
  public interface Check {
    boolean isReady() throws Exception;
  }

  /// @throws ProcessFailed when the child dies or is not ready in time
  public static void await(ChildProcess child, Duration atMost, Check check) {
    long deadlineNanos = System.nanoTime() + atMost.toNanos();
    String lastAnswer = "no answer";
    while (System.nanoTime() < deadlineNanos) {
      if (!child.isRunning()) {
        throw new ProcessFailed(
            child.name()
                + " ended with exit code "
                + child.exitCode()
                + " before it was ready. "
                + log(child));
      }
      if (Thread.currentThread().isInterrupted()) {
        child.kill9();
        throw new ProcessFailed("the start of " + child.name() + " was given up");
      }
      try {
        if (check.isReady()) {
          return;
        }
      } catch (Exception e) {
        // Any failure of a starting server only means "not yet"; the last one is reported if the
        // server never becomes ready.
        lastAnswer = e.toString();
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
    child.kill9();
    throw new ProcessFailed(
        child.name()
            + " was not ready after "
            + atMost.toSeconds()
            + " s ("
            + lastAnswer
            + "). "
            + log(child));
  }

  private static String log(ChildProcess child) {
    return "Its last log lines, from " + child.command().log() + ":\n" + child.lastLogLines(20);
  }
}
