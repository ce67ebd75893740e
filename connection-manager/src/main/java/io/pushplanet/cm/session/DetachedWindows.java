package io.pushplanet.cm.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;

/// The messages that devices with a persistent session left unacknowledged when their connection
/// ended. The device's next connection to this node gets them again under the same packet ids, with
/// DUP.
///
/// This only spares the device a second copy under a new id: the message's origin was told `not
/// here` and has parked the message. A window is good only for the very next connection, because a
/// device that was connected to another node in between may have acknowledged these messages there
/// and have used their packet ids for others. A window ends with its session, or when the last of
/// its messages expires.
///
/// Bounded; the oldest windows are dropped first. Thread-safe, by a short lock that is taken once
/// per lost connection with messages in flight.
public final class DetachedWindows {
  static final int MAX_DEVICES = 10_000;

  /// One message as it was sent. Its origin has been told its end.
  public record Unacknowledged(int packetId, SharedPublish publish) {}

  private record Window(long epoch, long untilMillis, List<Unacknowledged> left) {}

  private final InstantSource clock;

  /// In order of disconnection, the oldest first.
  @GuardedBy("this")
  private final LinkedHashMap<DeviceKey, Window> windows = new LinkedHashMap<>();

  public DetachedWindows(InstantSource clock) {
    this.clock = clock;
  }

  /// @param epoch of the connection that ended
  /// @param expirySeconds how long the session outlives the connection
  public synchronized void keep(
      DeviceKey device, long epoch, long expirySeconds, List<Unacknowledged> left) {
    windows.remove(device);
    long now = clock.millis();
    if (!left.isEmpty()) {
      long until = Math.min(now + Duration.ofSeconds(expirySeconds).toMillis(), lastExpiry(left));
      windows.put(device, new Window(epoch, until, List.copyOf(left)));
    }
    // A window that ends sooner than an older one waits for the older one; such windows are few and
    // small.
    while (!windows.isEmpty()
        && (windows.size() > MAX_DEVICES || isOver(windows.firstEntry().getValue(), now))) {
      windows.pollFirstEntry();
    }
  }

  /// @param epoch of the device's last connection to any node; a window of another epoch is dropped
  public synchronized List<Unacknowledged> take(DeviceKey device, long epoch) {
    Window window = windows.remove(device);
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
