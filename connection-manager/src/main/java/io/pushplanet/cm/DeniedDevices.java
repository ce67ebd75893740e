package io.pushplanet.cm;

import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Devices whose password the directory has called denied lately: a client that is told so and comes again at once, over and over, is not asked for
/// again. A denial is never taken back, so a password that ends sooner than one that is denied is denied, too. Thread-safe.
final class DeniedDevices {
  static final Duration KNOWN_FOR = Duration.ofSeconds(30);

  /// Some 200 bytes each.
  static final int MOST = 20_000;

  private final Map<DeviceKey, Denial> known = new ConcurrentHashMap<>();

  private record Denial(long ends, long untilNanos) {}

  /// @param passwordEnds in this second of the epoch
  boolean isDenied(DeviceKey device, long passwordEnds, long nowNanos) {
    var denial = known.get(device);
    return denial != null && passwordEnds <= denial.ends && nowNanos - denial.untilNanos < 0;
  }

  /// @param passwordEnds in this second of the epoch
  void denied(DeviceKey device, long passwordEnds, long nowNanos) {
    if (known.size() >= MOST) {
      // Each of them is asked for once more.
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
