package io.pushplanet.cm.transport.gate;

import io.pushplanet.common.session.DeviceKey;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// A [Rate] per device that continues from one connection to the next: the amount that a connection
/// has spent is remembered when it ends, in the fixed memory of [Clocks], until the rate has
/// recovered. Thread-safe, lock-free.
public final class DeviceRates {
  /// A prime, 2^61 - 1.
  private static final long MODULUS = (1L << 61) - 1;

  private final int perSecond;
  private final int burst;
  private final long startNanos;
  private final long base;
  // Null if there is no limit.
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

  /// The rate for a new connection of the device, less the amount that its former connections have
  /// spent.
  public Rate of(DeviceKey device) {
    return new Rate(perSecond, burst, startNanos, clocks == null ? 0 : clocks.time(hash(device)));
  }

  /// Remembers the rate of a connection that has ended.
  public void keep(DeviceKey device, Rate rate) {
    if (clocks != null) {
      clocks.advance(hash(device), rate.due());
    }
  }

  /// The text as a polynomial, evaluated at a secret point: for any two devices, even chosen ones,
  /// the probability of the same hash is their length in 2^61. Texts with the same `hashCode` are
  /// easily found, and a seed that is mixed in afterwards does not separate them.
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
    // 2^61 is 1 modulo 2^61 - 1, so the upper bits are simply added.
    long sum = (low & MODULUS) + (high << 3 | low >>> 61) + more;
    long once = (sum & MODULUS) + (sum >>> 61);
    return once >= MODULUS ? once - MODULUS : once;
  }
}
