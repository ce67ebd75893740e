package io.pushplanet.quickstart.process;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Whether a child answers by now. It is asked until it does, has died, or has used up its time.
/// For one thread at a time.
public final class Readiness {
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final ChildProcess child;
  private final Duration atMost;
  private final Check check;
  private final long startNanos = System.nanoTime();
  private String lastAnswer = "no answer";

  /// @param atMost the child's time to become ready, from now on
  public Readiness(ChildProcess child, Duration atMost, Check check) {
    this.child = child;
    this.atMost = atMost;
    this.check = check;
  }

  /// A question to a child: throws, or says false, while it is not ready.
  @FunctionalInterface
  public interface Check {
    boolean isReady() throws Exception;
  }

  /// @throws ProcessFailed when the child dies or is not ready in time
  public static void await(ChildProcess child, Duration atMost, Check check) {
    new Readiness(child, atMost, check).await();
  }

  public ChildProcess child() {
    return child;
  }

  /// The time since the child was started.
  public Duration passed() {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }

  /// The rest of the child's time, negative when it is used up.
  public Duration left() {
    return atMost.minus(passed());
  }

  /// Returns the child when it is ready. An interrupt gives it up and kills it.
  ///
  /// @throws ProcessFailed when the child dies or is not ready in time
  public ChildProcess await() {
    while (true) {
      if (Thread.currentThread().isInterrupted()) {
        child.kill9();
        throw new ProcessFailed("the start of " + child.name() + " was given up");
      }
      if (isReached()) {
        return child;
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  /// Asks the child once. A child that has used up its time is killed.
  ///
  /// @throws ProcessFailed when the child has died, or is not ready and has used up its time
  public boolean isReached() {
    if (!child.isRunning()) {
      throw new ProcessFailed(
          child.name()
              + " ended with exit code "
              + child.exitCode()
              + " before it was ready. "
              + log());
    }
    try {
      if (check.isReady()) {
        return true;
      }
    } catch (Exception e) {
      // Any failure of a starting server only means "not yet"; the last one is reported if the
      // server never becomes ready.
      lastAnswer = e.toString();
    }
    if (left().isPositive()) {
      return false;
    }
    child.kill9();
    throw new ProcessFailed(
        child.name()
            + " was not ready after "
            + atMost.toSeconds()
            + " s ("
            + lastAnswer
            + "). "
            + log());
  }

  private String log() {
    return "Its last log lines, from " + child.command().log() + ":\n" + child.lastLogLines(20);
  }
}
