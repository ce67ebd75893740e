package io.pushplanet.cm.transport;

import java.time.Duration;

/// Where everything about some connections happens, one thing after the other: an [EventLoop], or a simulated one.
public interface Loop {
  /// Runs `task` here, soon. From any thread.
  void execute(Runnable task);

  /// Runs `task` here, in a turn that begins no sooner than so long after this one; less than a tenth of a millisecond later, as a rule, and a whole one
  /// where the poller [waits in these][io.pushplanet.cm.transport.socket.Poller#poll]. Each is a turn of its own. From this
  /// loop's own thread, and for a few things at a time: nothing of a connection's own.
  void executeAfter(Duration wait, Runnable task);

  /// The time this turn began.
  long nowNanos();
}
