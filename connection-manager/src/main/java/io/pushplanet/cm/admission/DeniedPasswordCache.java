package io.pushplanet.cm.admission;

import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Remembers which passwords the directory has denied lately, so that a client that connects again
/// and again with such a password causes no further request to the directory. A denial is final,
/// and it covers every password of the device that ends at the same time or sooner. Thread-safe.
public final class DeniedPasswordCache {
  public static final Duration KNOWN_FOR = Duration.ofSeconds(30);

  /// Each entry takes some 200 bytes.
  static final int MAX = 20_000;

  private final Map<DeviceKey, Denial> known = new ConcurrentHashMap<>();

  private record Denial(long ends, long untilNanos) {}

  /// @param passwordEnds in this second of the epoch
  public boolean isDenied(DeviceKey device, long passwordEnds, long nowNanos) {
    Denial denial = known.get(device);
    return denial != null && passwordEnds <= denial.ends && nowNanos - denial.untilNanos < 0;
  }

  /// @param passwordEnds in this second of the epoch
  public void denied(DeviceKey device, long passwordEnds, long nowNanos) {
    if (known.size() >= MAX) {
      // The directory is asked once more about each of them.
      known.clear();
    }
    known.merge(
        device,
        new Denial(passwordEnds, nowNanos + KNOWN_FOR.toNanos()),
        (former, now) -> new Denial(Math.max(former.ends, now.ends), now.untilNanos));
  }

  int size() {
    return known.size();
  }
}
