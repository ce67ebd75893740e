package io.pushplanet.cm.directory;

import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Ends of connections that the directory has not received, because it was away or its queue was
/// full. Without them the directory would say for ever that the device is here. Keeps the last end
/// of each device, for [#MAX] devices at most; an end that finds no room is noticed when a gateway
/// sends a frame for the device to this node. Thread-safe.
final class PendingReleases {
  static final int MAX = 100_000;

  private final ConcurrentHashMap<DeviceKey, End> ends = new ConcurrentHashMap<>();

  private record End(long epoch, Command command) {
    /// Of two ends of one connection, [Command.End] says more than [Command.Release].
    static End last(End one, End other) {
      boolean isLater =
          other.epoch == one.epoch ? other.command instanceof Command.End : other.epoch > one.epoch;
      return isLater ? other : one;
    }
  }

  /// Keeps the command if it ends a connection.
  void keep(Command command) {
    switch (command) {
      case Command.End(DeviceKey device, long epoch, _, _, _, _) ->
          keep(device, new End(epoch, command));
      case Command.Release(DeviceKey device, long epoch) -> keep(device, new End(epoch, command));
      case Command.Claim _, Command.Remember _, Command.Forget _, Command.ConfirmRelease _ -> {}
    }
  }

  private void keep(DeviceKey device, End end) {
    if (ends.size() < MAX || ends.containsKey(device)) {
      ends.merge(device, end, End::last);
    }
  }

  /// The device is here again, so the end of its new connection will release it.
  void forget(DeviceKey device) {
    ends.remove(device);
  }

  boolean isEmpty() {
    return ends.isEmpty();
  }

  /// Takes out up to `most` commands.
  List<Command> take(int most) {
    var some = new ArrayList<Command>();
    for (Map.Entry<DeviceKey, End> each : ends.entrySet()) {
      if (some.size() >= most) {
        break;
      }
      if (ends.remove(each.getKey(), each.getValue())) {
        some.add(each.getValue().command());
      }
    }
    return some;
  }
}
