package io.pushplanet.cm.transport;

import java.net.InetAddress;

/// A peer that has not shown who it is: where it comes from, and what it makes us hold meanwhile. Confined to its event loop.
final class Stranger {
  private final InetAddress source;
  private final ByteBudget budget;
  private int held;

  Stranger(InetAddress source, ByteBudget budget) {
    this.source = source;
    this.budget = budget;
  }

  /// Also after its connection has ended.
  InetAddress source() {
    return source;
  }

  /// @return false when strangers hold too much already
  boolean take(int bytes) {
    if (!budget.take(bytes)) {
      return false;
    }
    held += bytes;
    return true;
  }

  /// At most what it holds.
  void giveBack(int bytes) {
    int some = Math.min(bytes, held);
    budget.giveBack(some);
    held -= some;
  }

  void giveBackAll() {
    giveBack(held);
  }
}
