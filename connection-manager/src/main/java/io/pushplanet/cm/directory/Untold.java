package io.pushplanet.cm.directory;

import io.pushplanet.cm.directory.Directory.Order;
import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/// Ends of connections that the directory has not heard of, because it was away or too many stood in line: without them it has a device here for ever that
/// is not. Of each device the last, of some [#MOST] devices; what finds no room is noticed when a gateway looks for the device here. Thread-safe.
final class Untold {
  static final int MOST = 100_000;

  private final ConcurrentHashMap<DeviceKey, End> ends = new ConcurrentHashMap<>();

  private record End(long epoch, Order order) {
    /// Of one connection its end says more than that there is none.
    static End last(End one, End other) {
      boolean isLater =
          other.epoch == one.epoch ? other.order instanceof Order.End : other.epoch > one.epoch;
      return isLater ? other : one;
    }
  }

  /// Keeps the order, if it is an end.
  void keep(Order order) {
    switch (order) {
      case Order.End(var device, var epoch, _, _, _) -> keep(device, new End(epoch, order));
      case Order.Release(var device, var epoch) -> keep(device, new End(epoch, order));
      case Order.Claim _, Order.Remember _, Order.Forget _, Order.LetGo _ -> {}
    }
  }

  private void keep(DeviceKey device, End end) {
    if (ends.size() < MOST || ends.containsKey(device)) {
      ends.merge(device, end, End::last);
    }
  }

  /// It is here again: the end of this connection will say all.
  void forget(DeviceKey device) {
    ends.remove(device);
  }

  boolean isEmpty() {
    return ends.isEmpty();
  }

  /// So many of them, which are kept no more.
  List<Order> take(int most) {
    var some = new ArrayList<Order>();
    for (var each : ends.entrySet()) {
      if (some.size() >= most) {
        break;
      }
      if (ends.remove(each.getKey(), each.getValue())) {
        some.add(each.getValue().order());
      }
    }
    return some;
  }
}
