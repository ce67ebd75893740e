package io.pushplanet.cm.transport.gate;

import java.util.concurrent.atomic.AtomicLongArray;

/// A clock per key in fixed memory, for any number of keys: each key has one clock in each of two
/// rows, and the less advanced one counts (a count-min sketch of [Rate]s). An innocent key is
/// mistaken for a busy one only when both of its clocks belong to busy keys. No key is ever
/// evicted, so an attacker cannot flush the table to start anew. Thread-safe, lock-free: two
/// threads that count the same key in the same instant may count it once.
final class Clocks {
  private static final int SLOTS = 1 << 15;

  private final long seed;
  private final AtomicLongArray first = new AtomicLongArray(SLOTS);
  private final AtomicLongArray second = new AtomicLongArray(SLOTS);

  /// @param seed random, so that an attacker cannot choose keys that collide
  Clocks(long seed) {
    this.seed = seed;
  }

  /// The key's clock; 0 for a key that was never advanced.
  long time(long key) {
    long mixed = mixed(key);
    return Math.min(first.get(slot(mixed)), second.get(slot(mixed >>> 32)));
  }

  /// Advances the key's clocks, never backwards.
  void advance(long key, long time) {
    long mixed = mixed(key);
    first.accumulateAndGet(slot(mixed), time, Math::max);
    second.accumulateAndGet(slot(mixed >>> 32), time, Math::max);
  }

  private static int slot(long mixed) {
    return (int) (mixed & (SLOTS - 1));
  }

  /// The finalizer of SplittableRandom (Stafford's variant 13): every bit of the key affects every
  /// bit of the slot.
  private long mixed(long key) {
    long hash = key ^ seed;
    hash = (hash ^ (hash >>> 30)) * 0xbf58476d1ce4e5b9L;
    hash = (hash ^ (hash >>> 27)) * 0x94d049bb133111ebL;
    return hash ^ (hash >>> 31);
  }
}
