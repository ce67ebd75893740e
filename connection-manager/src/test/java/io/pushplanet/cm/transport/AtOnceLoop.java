package io.pushplanet.cm.transport;

import java.time.Duration;

/// A loop that runs each task at once; its time is moved by hand.
public final class AtOnceLoop implements Loop {
  public long nowNanos;

  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public void executeAfter(Duration wait, Runnable task) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long nowNanos() {
    return nowNanos;
  }
}
