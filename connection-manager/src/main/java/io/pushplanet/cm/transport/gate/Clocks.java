package io.pushplanet.cm.transport.gate;

import java.util.concurrent.atomic.AtomicLongArray;

/// A clock for everybody, in fixed memory whoever comes: two rows of clocks, each key has one clock in either row, and the less
/// advanced one counts (a count-min sketch of [Rate]s). An innocent key is only mistaken for a busy one when both of its clocks belong to
/// busy ones. Nothing is ever evicted, so nobody can flush the table to begin anew. Thread-safe, lock-free: two threads that count the
/// same key in the same instant may count one.
final class Clocks {
  private static final int SLOTS = 1 << 15;

  private final long seed;
  private final AtomicLongArray first = new AtomicLongArray(SLOTS);
  private final AtomicLongArray second = new AtomicLongArray(SLOTS);

  /// @param seed random, so that nobody can choose keys that collide
  Clocks(long seed) {
    this.seed = seed;
  }

  /// 0 for a key that nobody has advanced.
  long time(long key) {
    long mixed = mixed(key);
    return Math.min(first.get(slot(mixed)), second.get(slot(mixed >>> 32)));
  }

  /// Never back.
  void advance(long key, long time) {
    long mixed = mixed(key);
    first.accumulateAndGet(slot(mixed), time, Math::max);
    second.accumulateAndGet(slot(mixed >>> 32), time, Math::max);
  }

  private static int slot(long mixed) {
    return (int) (mixed & (SLOTS - 1));
  }

  /// The finalizer of SplittableRandom (Stafford's variant 13): every bit of the key moves every bit of the slot.
  private long mixed(long key) {
    long hash = key ^ seed;
    hash = (hash ^ (hash >>> 30)) * 0xbf58476d1ce4e5b9L;
    hash = (hash ^ (hash >>> 27)) * 0x94d049bb133111ebL;
    return hash ^ (hash >>> 31);
  }
}
