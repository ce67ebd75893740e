package io.pushplanet.cm.session;

import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/// What devices with a persistent session left unacknowledged when they went, so that their next connection to this node
/// gets it again under the same packet ids, with DUP. Not the truth: the origin was told `not here` and has parked the
/// message; this only spares the device a second copy under a new id. It is good for the very next connection only: a device
/// that was elsewhere meanwhile may have acknowledged these messages there, and knows their packet ids by other ones. Bounded; the oldest go first. Thread-safe: a short
/// lock, once per lost connection that had something in flight.
public final class DetachedWindows {
  private static final int MOST_DEVICES = 10_000;

  /// One message as it was sent. Whoever handed it over was told its end.
  public record Unacknowledged(int packetId, Letter letter) {}

  private record Window(long epoch, List<Unacknowledged> left) {}

  private final Map<DeviceKey, Window> windows = new HashMap<>();
  private final Queue<DeviceKey> order = new ArrayDeque<>();

  /// @param epoch of the connection that ended
  public synchronized void keep(DeviceKey device, long epoch, List<Unacknowledged> left) {
    if (left.isEmpty()) {
      windows.remove(device);
      return;
    }
    if (windows.put(device, new Window(epoch, List.copyOf(left))) == null) {
      order.add(device);
    }
    while (order.size() > MOST_DEVICES) {
      windows.remove(order.remove());
    }
  }

  /// @param epoch of the device's last connection anywhere: a window of another is dropped
  public synchronized List<Unacknowledged> take(DeviceKey device, long epoch) {
    @Nullable Window window = windows.remove(device);
    if (window == null) {
      return List.of();
    }
    order.remove(device);
    return window.epoch() == epoch ? window.left() : List.of();
  }
}
