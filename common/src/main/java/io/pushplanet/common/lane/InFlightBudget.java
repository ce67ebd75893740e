package io.pushplanet.common.lane;

import java.util.concurrent.Semaphore;

/// The share of a lane that large pieces of work have together, in items and in bytes. A publisher
/// that finds it used up waits for its turn. Thread-safe.
public final class InFlightBudget {
  private final int permits;
  private final long bytesPerPermit;
  private final Semaphore free;

  /// @param mostBytes of all unconfirmed items together; a larger item goes alone
  public InFlightBudget(int mostItems, long mostBytes) {
    if (mostItems < 1) {
      throw new IllegalArgumentException("a budget has room for at least one item");
    }
    this.permits = mostItems;
    this.bytesPerPermit = Math.max(1, mostBytes / mostItems);
    this.free = new Semaphore(mostItems, true);
  }

  /// Half of a lane's capacity; the other half is left to all other publishers.
  public static InFlightBudget halfOf(LanePublisher.Settings lane) {
    return new InFlightBudget(lane.mostWaiting() / 2, lane.mostBytesUnderWay() / 2);
  }

  /// Returns when the item fits; in bounded time, because a lane reports on every item.
  ///
  /// @return the item's permits, for [#release]
  int acquire(int bytes) {
    int taken = (int) Math.min(permits, 1 + bytes / bytesPerPermit);
    free.acquireUninterruptibly(taken);
    return taken;
  }

  void release(int taken) {
    free.release(taken);
  }
}
