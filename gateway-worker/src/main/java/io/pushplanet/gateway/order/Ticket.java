package io.pushplanet.gateway.order;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A place in an order. Whoever has it lets it [pass][#pass] in any case, or those behind wait in vain. Thread-safe.
public final class Ticket {
  private final CompletableFuture<Void> before;
  private final CompletableFuture<Void> passed = new CompletableFuture<>();
  private final CompletableFuture<Void> gone;
  private volatile boolean waitedInVain;

  Ticket(CompletableFuture<Void> before) {
    this.before = before;
    this.gone = before.runAfterBoth(passed, () -> {});
  }

  /// Of one who has no order to keep.
  public static Ticket ofNoOrder() {
    return new Ticket(CompletableFuture.completedFuture(null));
  }

  /// Waits for all before it to pass.
  ///
  /// @return whether they did within `atMost`. Else neither this one nor who is behind it waits for them any longer once it
  ///     passes: one that hangs holds up its followers once, not each of them
  public boolean await(Duration atMost) throws InterruptedException {
    try {
      before.get(Math.max(0, atMost.toNanos()), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      waitedInVain = true;
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException("nobody passes with an exception", e);
    }
  }

  /// Lets those behind it go on, once those before it have passed. More than once does no harm.
  public void pass() {
    passed.complete(null);
    if (waitedInVain) {
      gone.complete(null);
    }
  }

  /// Complete when this and all before it have passed.
  CompletableFuture<Void> gone() {
    return gone;
  }
}
