package io.pushplanet.gateway.order;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.CompletableFuture;

/// Keeps an order among batches or frames that are worked on at the same time. Each takes a ticket
/// when it comes, does what can be done without order, and waits for its ticket where the order
/// shows. Thread-safe.
public final class Tickets {
  @GuardedBy("this")
  private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

  /// A ticket behind all that were taken before.
  public synchronized Ticket take() {
    Ticket ticket = new Ticket(last);
    last = ticket.gone();
    return ticket;
  }
}
