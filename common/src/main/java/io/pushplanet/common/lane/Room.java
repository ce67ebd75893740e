package io.pushplanet.common.lane;

import java.util.concurrent.Semaphore;

/// The part of a lane that large pieces of work share, in items and in bytes: who comes when it is full waits for its turn.
/// Thread-safe.
public final class Room {
  private final int places;
  private final long bytesOfPlace;
  private final Semaphore free;

  /// @param mostBytes of all items that are in it; a larger one is in it alone
  public Room(int mostItems, long mostBytes) {
    this.places = mostItems;
    this.bytesOfPlace = Math.max(1, mostBytes / mostItems);
    this.free = new Semaphore(mostItems, true);
  }

  /// Half of what a lane takes; the other half is left to everybody else.
  public static Room halfOf(LanePublisher.Settings lane) {
    return new Room(lane.mostWaiting() / 2, lane.mostBytesUnderWay() / 2);
  }

  /// Returns when there is room; in bounded time, as a lane tells of every item.
  ///
  /// @return what the item takes, for [#leave]
  int enter(int bytes) {
    int taken = (int) Math.min(places, 1 + bytes / bytesOfPlace);
    free.acquireUninterruptibly(taken);
    return taken;
  }

  void leave(int taken) {
    free.release(taken);
  }
}
