package io.pushplanet.cm.transport.gate;

import io.pushplanet.common.session.DeviceKey;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// A [Rate] for what each device does, which goes on from one connection to the next: what a connection has spent is
/// remembered when it ends, in the fixed memory of [Clocks], until it would be as good as new. Thread-safe, lock-free.
public final class DeviceRates {
  /// A prime, 2^61 - 1.
  private static final long MODULUS = (1L << 61) - 1;

  private final int perSecond;
  private final int burst;
  private final long startNanos;
  private final long base;
  // Null without a limit.
  private final @Nullable Clocks clocks;

  /// @param perSecond 0 for no limit
  /// @param seed random
  public DeviceRates(int perSecond, int burst, long startNanos, long seed) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.startNanos = startNanos;
    var random = new SplittableRandom(seed);
    this.base = random.nextLong(1 << 16, MODULUS);
    this.clocks = perSecond == 0 ? null : new Clocks(random.nextLong());
  }

  /// For a connection of the device: a new one but for what its former connections have spent.
  public Rate of(DeviceKey device) {
    return new Rate(perSecond, burst, startNanos, clocks == null ? 0 : clocks.time(hash(device)));
  }

  /// The connection is over.
  public void keep(DeviceKey device, Rate rate) {
    if (clocks != null) {
      clocks.advance(hash(device), rate.due());
    }
  }

  /// The text as a polynomial at a place that nobody knows: two devices, chosen as they may be, have the same hash with a probability of their length in 2^61. Those of
  /// `hashCode` are chosen by hand, and no seed that is mixed in afterwards parts them.
  private long hash(DeviceKey device) {
    long app = hash(1, device.app().value());
    return hash(next(app, '/'), device.device().value());
  }

  private long hash(long begun, String text) {
    long hash = begun;
    for (int index = 0; index < text.length(); index++) {
      hash = next(hash, text.charAt(index));
    }
    return hash;
  }

  private long next(long hash, char more) {
    long high = Math.multiplyHigh(hash, base);
    long low = hash * base;
    // 2^61 is 1 here: the upper bits count as they are.
    long sum = (low & MODULUS) + (high << 3 | low >>> 61) + more;
    long once = (sum & MODULUS) + (sum >>> 61);
    return once >= MODULUS ? once - MODULUS : once;
  }
}
