package io.pushplanet.cm.transport;

import org.jspecify.annotations.Nullable;

/// Peers that have authenticated: the devices of all loops share a budget, the few gateways have no
/// limit. Thread-safe.
final class AuthenticatedPeers implements KeptBytes {
  // Null for gateways.
  private final @Nullable ByteBudget budget;

  AuthenticatedPeers(@Nullable ByteBudget budget) {
    this.budget = budget;
  }

  @Override
  public boolean take(int bytes) {
    return budget == null || budget.take(bytes);
  }

  @Override
  public void giveBack(int bytes) {
    if (budget != null) {
      budget.giveBack(bytes);
    }
  }

  @Override
  public boolean change(int more) {
    return budget == null || budget.hold(more) || more <= 0;
  }
}
