package io.pushplanet.cm.transport;

import java.time.Duration;

/// Runs all work for some connections, one task after the other: an [EventLoop], or a simulated
/// one.
public interface Loop {
  /// Runs `task` on this loop soon. From any thread.
  void execute(Runnable task);

  /// Runs `task` on this loop, in a turn of its own that begins no sooner than `wait` after this
  /// turn. It is usually less than a tenth of a millisecond late, and a whole millisecond where the
  /// poller [waits in milliseconds][io.pushplanet.cm.transport.socket.Poller#poll]. Called only on
  /// this loop, and for a few tasks at a time: not for one task per connection.
  void executeAfter(Duration wait, Runnable task);

  /// When this turn began.
  long nowNanos();
}
