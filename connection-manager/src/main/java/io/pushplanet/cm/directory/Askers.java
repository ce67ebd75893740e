package io.pushplanet.cm.directory;

import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/// Who has claimed devices of this node and has not heard yet that they were let go; of [#MOST] devices at most, the claims of others go on
/// when they have waited long enough. Thread-safe.
final class Askers {
  private static final int MOST = 100_000;

  private final ConcurrentHashMap<DeviceKey, List<SessionOwner>> waiting =
      new ConcurrentHashMap<>();

  /// The device was claimed by another node.
  void ask(DeviceKey device, SessionOwner heir) {
    if (waiting.size() < MOST) {
      waiting.merge(device, List.of(heir), Askers::both);
    }
  }

  private static List<SessionOwner> both(List<SessionOwner> some, List<SessionOwner> others) {
    var all = new ArrayList<>(some);
    all.addAll(others);
    return List.copyOf(all);
  }

  /// Takes out whoever waits for this device.
  List<SessionOwner> take(DeviceKey device) {
    var all = waiting.remove(device);
    return all == null ? List.of() : all;
  }

  /// Takes out those whose claims are older than this epoch.
  List<SessionOwner> takeOlder(DeviceKey device, long epoch) {
    var older = new ArrayList<SessionOwner>();
    waiting.computeIfPresent(
        device,
        (_, all) -> {
          all.stream().filter(heir -> heir.epoch() < epoch).forEach(older::add);
          var newer = all.stream().filter(heir -> heir.epoch() >= epoch).toList();
          return newer.isEmpty() ? null : newer;
        });
    return older;
  }
}
