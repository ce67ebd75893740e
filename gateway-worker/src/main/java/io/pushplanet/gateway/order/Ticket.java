package io.pushplanet.gateway.order;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A place in an order. Its holder must [pass][#pass] in any case, or the tickets behind it wait in
/// vain. Thread-safe.
public final class Ticket {
  private final CompletableFuture<Void> before;
  private final CompletableFuture<Void> passed = new CompletableFuture<>();
  private final CompletableFuture<Void> gone;
  private volatile boolean waitedInVain;

  Ticket(CompletableFuture<Void> before) {
    this.before = before;
    this.gone = before.runAfterBoth(passed, () -> {});
  }

  /// A ticket that waits for no other.
  public static Ticket ofNoOrder() {
    return new Ticket(CompletableFuture.completedFuture(null));
  }

  /// Waits until all earlier tickets have passed.
  ///
  /// @return whether they did within `atMost`. If not, this ticket and those behind it no longer
  ///     wait for them once this one passes: a holder that hangs delays its followers once, not
  ///     each of them
  public boolean await(Duration atMost) throws InterruptedException {
    try {
      before.get(Math.max(0, atMost.toNanos()), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      waitedInVain = true;
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a ticket passed with an exception", e);
    }
  }

  /// Lets the tickets behind it go on once those before it have passed. More than once does no
  /// harm.
  public void pass() {
    passed.complete(null);
    if (waitedInVain) {
      gone.complete(null);
    }
  }

  /// Complete when this ticket and all before it have passed.
  CompletableFuture<Void> gone() {
    return gone;
  }
}
