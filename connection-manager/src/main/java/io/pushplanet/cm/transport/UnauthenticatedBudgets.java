package io.pushplanet.cm.transport;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The budget for the bytes that all unauthenticated peers together make this process hold. Each
/// listener has a sixteenth of its own, so that a crowd at one listener does not block the others.
/// The rest is shared by the devices' listeners. Thread-safe, lock-free.
final class UnauthenticatedBudgets {
  private static final int RESERVED_SHARE = 16;

  private final Map<String, ByteBudget> budgets = new HashMap<>();

  UnauthenticatedBudgets(long limit, List<Listener> listeners) {
    long own = limit / RESERVED_SHARE;
    var common = new ByteBudget(limit - own * listeners.size(), null);
    for (Listener listener : listeners) {
      budgets.put(listener.name(), new ByteBudget(own, listener.trusted() ? null : common));
    }
  }

  /// The budget of this listener's peers.
  ByteBudget of(Listener listener) {
    return Objects.requireNonNull(budgets.get(listener.name()));
  }

  long held() {
    return budgets.values().stream().mapToLong(ByteBudget::held).sum();
  }
}
