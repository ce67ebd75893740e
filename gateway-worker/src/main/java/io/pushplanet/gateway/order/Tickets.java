package io.pushplanet.gateway.order;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.CompletableFuture;

/// Keeps the order of what is worked on side by side: who comes takes a ticket, does what can be done meanwhile, and waits with it
/// where the order shows. Thread-safe.
public final class Tickets {
  @GuardedBy("this")
  private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

  /// Behind all that were taken before.
  public synchronized Ticket take() {
    Ticket ticket = new Ticket(last);
    last = ticket.gone();
    return ticket;
  }
}
