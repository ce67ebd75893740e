package io.pushplanet.cm.delivery;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicInteger;

/// Bounds how many targets wait for their devices, over all gateways. Thread-safe, lock-free.
public final class OpenTargets {
  private final int most;
  private final AtomicInteger open = new AtomicInteger();

  /// @param most `cm.delivery.max-open-targets`
  public OpenTargets(int most, MeterRegistry meters) {
    this.most = most;
    meters.gauge("cm.delivery.targets.open", open);
  }

  /// @return false when too many targets are open
  boolean tryOpen() {
    if (open.incrementAndGet() <= most) {
      return true;
    }
    open.decrementAndGet();
    return false;
  }

  void close() {
    open.decrementAndGet();
  }

  int count() {
    return open.get();
  }
}
