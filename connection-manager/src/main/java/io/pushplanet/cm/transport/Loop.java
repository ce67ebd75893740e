package io.pushplanet.cm.transport;

/// Where everything about some connections happens, one thing after the other: an [EventLoop], or a simulated one.
public interface Loop {
  /// Runs `task` here, soon. From any thread.
  void execute(Runnable task);

  /// The time this turn began.
  long nowNanos();
}
