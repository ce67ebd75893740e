package io.pushplanet.cm.transport.gate;

import io.pushplanet.common.session.DeviceKey;
import org.jspecify.annotations.Nullable;

/// A [Rate] for what each device does, which goes on from one connection to the next: what a connection has spent is
/// remembered when it ends, in the fixed memory of [Clocks], until it would be as good as new. Thread-safe, lock-free.
public final class DeviceRates {
  private final int perSecond;
  private final int burst;
  private final long startNanos;
  // Null without a limit.
  private final @Nullable Clocks clocks;

  /// @param perSecond 0 for no limit
  /// @param seed random
  public DeviceRates(int perSecond, int burst, long startNanos, long seed) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.startNanos = startNanos;
    this.clocks = perSecond == 0 ? null : new Clocks(seed);
  }

  /// For a connection of the device: a new one but for what its former connections have spent.
  public Rate of(DeviceKey device) {
    return new Rate(
        perSecond, burst, startNanos, clocks == null ? 0 : clocks.time(device.hashCode()));
  }

  /// The connection is over.
  public void keep(DeviceKey device, Rate rate) {
    if (clocks != null) {
      clocks.advance(device.hashCode(), rate.due());
    }
  }
}
