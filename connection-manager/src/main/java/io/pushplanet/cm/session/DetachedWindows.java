package io.pushplanet.cm.session;

import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;

/// What devices with a persistent session left unacknowledged when they went, so that their next connection to this node
/// gets it again under the same packet ids, with DUP. Not the truth: the origin was told `not here` and has parked the
/// message; this only spares the device a second copy under a new id. It is good for the very next connection only: a device
/// that was elsewhere meanwhile may have acknowledged these messages there, and knows their packet ids by other ones. It ends
/// with its session, and with the last of its messages. Bounded; the oldest go first. Thread-safe: a short lock, once per lost
/// connection that had something in flight.
public final class DetachedWindows {
  static final int MOST_DEVICES = 10_000;

  /// One message as it was sent. Whoever handed it over was told its end.
  public record Unacknowledged(int packetId, SharedPublish publish) {}

  private record Window(long epoch, long untilMillis, List<Unacknowledged> left) {}

  private final InstantSource clock;
  // The first is the one whose device has been away for longest.
  private final LinkedHashMap<DeviceKey, Window> windows = new LinkedHashMap<>();

  public DetachedWindows(InstantSource clock) {
    this.clock = clock;
  }

  /// @param epoch of the connection that ended
  /// @param expirySeconds how long its session outlives it
  public synchronized void keep(
      DeviceKey device, long epoch, long expirySeconds, List<Unacknowledged> left) {
    windows.remove(device);
    long now = clock.millis();
    if (!left.isEmpty()) {
      long until = Math.min(now + Duration.ofSeconds(expirySeconds).toMillis(), lastExpiry(left));
      windows.put(device, new Window(epoch, until, List.copyOf(left)));
    }
    // One that ends sooner than an older one waits for that: they are few and small.
    while (!windows.isEmpty()
        && (windows.size() > MOST_DEVICES || isOver(windows.firstEntry().getValue(), now))) {
      windows.pollFirstEntry();
    }
  }

  /// @param epoch of the device's last connection anywhere: a window of another is dropped
  public synchronized List<Unacknowledged> take(DeviceKey device, long epoch) {
    var window = windows.remove(device);
    if (window == null || window.epoch() != epoch || isOver(window, clock.millis())) {
      return List.of();
    }
    return window.left();
  }

  private static boolean isOver(Window window, long nowMillis) {
    return nowMillis > window.untilMillis();
  }

  private static long lastExpiry(List<Unacknowledged> left) {
    return left.stream().mapToLong(each -> each.publish().expiresAtMillis()).max().orElseThrow();
  }
}
