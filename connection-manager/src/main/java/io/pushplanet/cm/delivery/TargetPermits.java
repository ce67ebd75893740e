package io.pushplanet.cm.delivery;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicInteger;

/// Bounds how many targets wait for their devices, over all gateways. Thread-safe, lock-free.
public final class TargetPermits {
  private final int most;
  private final AtomicInteger taken = new AtomicInteger();

  /// @param most `cm.delivery.max-open-targets`
  public TargetPermits(int most, MeterRegistry meters) {
    this.most = most;
    meters.gauge("cm.delivery.targets.open", taken);
  }

  /// @return false when too many targets are open
  boolean tryTake() {
    if (taken.incrementAndGet() <= most) {
      return true;
    }
    taken.decrementAndGet();
    return false;
  }

  void giveBack() {
    taken.decrementAndGet();
  }

  int taken() {
    return taken.get();
  }
}
