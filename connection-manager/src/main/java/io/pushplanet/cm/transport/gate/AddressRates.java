package io.pushplanet.cm.transport.gate;

import java.net.Inet4Address;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// A rate for each source address: IPv4 by the whole address, IPv6 by its /64, which is what one
/// customer gets (https://www.rfc-editor.org/rfc/rfc6177), in the fixed memory of [Clocks].
/// Thread-safe, lock-free.
public final class AddressRates {
  private final long startNanos;
  private final long intervalNanos;
  private final long toleranceNanos;
  // Null if there is no limit.
  private final @Nullable Clocks clocks;

  /// @param perSecond 0 for no limit
  /// @param seed random, so that an attacker cannot choose addresses that collide
  public AddressRates(int perSecond, int burst, long startNanos, long seed) {
    this.startNanos = startNanos;
    this.intervalNanos = Rate.intervalNanos(perSecond);
    this.toleranceNanos = intervalNanos * (Math.max(1, burst) - 1L);
    this.clocks = perSecond == 0 ? null : new Clocks(seed);
  }

  /// Counts one connection and returns true; false, without counting, if that exceeds the rate.
  public boolean take(InetAddress address, long nowNanos) {
    if (clocks == null) {
      return true;
    }
    long now = nowNanos - startNanos;
    long network = network(address);
    long due = Math.max(now, clocks.time(network));
    if (due - toleranceNanos > now) {
      return false;
    }
    clocks.advance(network, due + intervalNanos);
    return true;
  }

  /// Whether [#take] would return false.
  public boolean isSpent(InetAddress address, long nowNanos) {
    return clocks != null && clocks.time(network(address)) - toleranceNanos > nowNanos - startNanos;
  }

  private static long network(InetAddress address) {
    byte[] bytes = address.getAddress();
    int length = address instanceof Inet4Address ? 4 : 8;
    long network = length;
    for (int index = 0; index < length; index++) {
      network = network << 8 | (bytes[index] & 0xFF);
    }
    return network;
  }
}
