package io.pushplanet.cm.uplink;

import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/// Wills whose device may come back before they are published (MQTT 5, Will Delay Interval,
/// https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901062). Thread-safe.
/// Bounded: beyond [#MAX] a will is published at once. They end with the process.
public final class DelayedWills {
  static final int MAX = 50_000;

  private final Map<DeviceKey, Pending> pending = new ConcurrentHashMap<>();
  private final Timer timer;
  private final Elsewhere elsewhere;
  private final BiConsumer<DeviceKey, Will> tell;

  /// Runs a task once, after a delay, on any thread.
  @FunctionalInterface
  public interface Timer {
    /// @return cancels the task and frees its memory
    Runnable after(Duration delay, Runnable task);
  }

  /// Runs a task unless another node has the device; does not block.
  @FunctionalInterface
  public interface Elsewhere {
    void unlessThere(DeviceKey device, Runnable task);
  }

  /// One connection's will. Compared by identity, so that it differs from a later one of the same
  /// device.
  private static final class Pending {
    private final Will will;
    private Runnable callOff = () -> {};

    Pending(Will will) {
      this.will = will;
    }
  }

  public DelayedWills(Timer timer, Elsewhere elsewhere, BiConsumer<DeviceKey, Will> tell) {
    this.timer = timer;
    this.elsewhere = elsewhere;
    this.tell = tell;
  }

  /// The connection ended: the will is published after the delay, unless the device comes back
  /// before.
  public void later(DeviceKey device, Will will, Duration delay) {
    if (delay.isZero() || pending.size() >= MAX) {
      tell.accept(device, will);
      return;
    }
    // Within the map's atomic step, so that neither the timer nor a cancellation can run in
    // between.
    pending.compute(
        device,
        (_, before) -> {
          if (before != null) {
            before.callOff.run();
          }
          var mine = new Pending(will);
          mine.callOff = timer.after(delay, () -> due(device, mine));
          return mine;
        });
  }

  private void due(DeviceKey device, Pending mine) {
    if (pending.remove(device, mine)) {
      elsewhere.unlessThere(device, () -> tell.accept(device, mine.will));
    }
  }

  /// The device has connected to this node.
  ///
  /// @param clean whether that ended its session, so that the will is published now
  public void cameBack(DeviceKey device, boolean clean) {
    Pending waiting = pending.isEmpty() ? null : pending.remove(device);
    if (waiting != null) {
      waiting.callOff.run();
      if (clean) {
        tell.accept(device, waiting.will);
      }
    }
  }
}
