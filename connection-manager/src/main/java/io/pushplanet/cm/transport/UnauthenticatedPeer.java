package io.pushplanet.cm.transport;

import java.net.InetAddress;

/// An unauthenticated peer: its address, and how many bytes it makes this process hold. Confined to
/// its event loop.
final class UnauthenticatedPeer implements KeptBytes {
  private final InetAddress source;
  private final ByteBudget budget;
  private int held;

  UnauthenticatedPeer(InetAddress source, ByteBudget budget) {
    this.source = source;
    this.budget = budget;
  }

  /// Remains valid after the connection has ended.
  InetAddress source() {
    return source;
  }

  @Override
  public boolean take(int bytes) {
    if (!budget.take(bytes)) {
      return false;
    }
    held += bytes;
    return true;
  }

  /// Gives back these bytes, but no more than it holds.
  @Override
  public void giveBack(int bytes) {
    int some = Math.min(bytes, held);
    budget.giveBack(some);
    held -= some;
  }

  @Override
  public boolean change(int more) {
    if (more > 0) {
      return take(more);
    }
    giveBack(-more);
    return true;
  }

  void giveBackAll() {
    giveBack(held);
  }
}
