package io.pushplanet.cm.transport.gate;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicLongArray;

/// A rate for each source address: IPv4 by the whole address, IPv6 by its /64, which is what one customer gets
/// (https://www.rfc-editor.org/rfc/rfc6177). In fixed memory whatever comes: two rows of clocks, each address has one clock
/// in either row, and the less advanced one counts (a count-min sketch of [Rate]s). An innocent address is only mistaken for
/// a busy one when both of its clocks belong to busy ones. Nothing is ever evicted, so nobody can flush the table to begin
/// anew. Thread-safe, lock-free: two threads that count the same address in the same instant may count one.
public final class AddressRates {
  private static final int SLOTS = 1 << 15;

  private final long startNanos;
  private final long intervalNanos;
  private final long toleranceNanos;
  private final long seed;
  private final AtomicLongArray first;
  private final AtomicLongArray second;

  /// @param perSecond 0 for no limit
  /// @param seed random, so that nobody can choose addresses that collide
  public AddressRates(int perSecond, int burst, long startNanos, long seed) {
    this.startNanos = startNanos;
    this.intervalNanos = Rate.intervalNanos(perSecond);
    this.toleranceNanos = intervalNanos * (Math.max(1, burst) - 1L);
    this.seed = seed;
    int slots = perSecond == 0 ? 0 : SLOTS;
    this.first = new AtomicLongArray(slots);
    this.second = new AtomicLongArray(slots);
  }

  /// Counts one, unless that is too many: then nothing is counted.
  public boolean take(InetAddress address, long nowNanos) {
    if (intervalNanos == 0) {
      return true;
    }
    long now = nowNanos - startNanos;
    int one = firstSlot(address);
    int other = secondSlot(address);
    long due = Math.max(now, Math.min(first.get(one), second.get(other)));
    if (due - toleranceNanos > now) {
      return false;
    }
    first.accumulateAndGet(one, due + intervalNanos, Math::max);
    second.accumulateAndGet(other, due + intervalNanos, Math::max);
    return true;
  }

  /// Whether [#take] would say no.
  public boolean isSpent(InetAddress address, long nowNanos) {
    if (intervalNanos == 0) {
      return false;
    }
    long due = Math.min(first.get(firstSlot(address)), second.get(secondSlot(address)));
    return due - toleranceNanos > nowNanos - startNanos;
  }

  private int firstSlot(InetAddress address) {
    return (int) (mixed(address) & (SLOTS - 1));
  }

  private int secondSlot(InetAddress address) {
    return (int) ((mixed(address) >>> 32) & (SLOTS - 1));
  }

  /// The finalizer of SplittableRandom (Stafford's variant 13): every bit of the address moves every bit of the slot.
  private long mixed(InetAddress address) {
    long hash = network(address) ^ seed;
    hash = (hash ^ (hash >>> 30)) * 0xbf58476d1ce4e5b9L;
    hash = (hash ^ (hash >>> 27)) * 0x94d049bb133111ebL;
    return hash ^ (hash >>> 31);
  }

  private static long network(InetAddress address) {
    var bytes = address.getAddress();
    int length = address instanceof Inet4Address ? 4 : 8;
    long network = length;
    for (int index = 0; index < length; index++) {
      network = network << 8 | (bytes[index] & 0xFF);
    }
    return network;
  }
}
