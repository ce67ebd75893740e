package io.pushplanet.cm.transport;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// What peers that have not authenticated may make this process hold, all together. A sixteenth is each listener's own: who
/// crowds one door shuts no other. The rest is there for whichever of the devices' doors needs it. Thread-safe, lock-free.
final class Strangers {
  private static final int SHARE = 16;

  private final Map<String, ByteBudget> budgets = new HashMap<>();

  Strangers(long limit, List<Listener> listeners) {
    long own = limit / SHARE;
    var common = new ByteBudget(limit - own * listeners.size(), null);
    for (var listener : listeners) {
      budgets.put(listener.name(), new ByteBudget(own, listener.trusted() ? null : common));
    }
  }

  /// Of those who come to this listener.
  ByteBudget of(Listener listener) {
    return Objects.requireNonNull(budgets.get(listener.name()));
  }

  long held() {
    return budgets.values().stream().mapToLong(ByteBudget::held).sum();
  }
}
