package io.pushplanet.cm.directory;

import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.RememberedSession;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Claims of other nodes for devices of this node. Each claimant waits until this node confirms
/// that it has released the device. Remembers the claims of [#MAX] devices at most; the claimants
/// of other devices go on when they have waited long enough. Thread-safe.
final class PendingTakeovers {
  private static final int MAX = 100_000;

  private final CommandPipeline commands;
  private final DirectoryHealth health;
  private final int mostWaiting;
  private final ConcurrentHashMap<DeviceKey, List<SessionOwner>> claimants =
      new ConcurrentHashMap<>();

  /// @param mostWaiting while more commands wait, nothing is confirmed: connects go first
  PendingTakeovers(CommandPipeline commands, DirectoryHealth health, int mostWaiting) {
    this.commands = commands;
    this.health = health;
    this.mostWaiting = mostWaiting;
  }

  /// Another node has claimed the device.
  void add(DeviceKey device, SessionOwner claimant) {
    if (claimants.size() < MAX) {
      claimants.merge(device, List.of(claimant), PendingTakeovers::both);
    }
  }

  private static List<SessionOwner> both(List<SessionOwner> some, List<SessionOwner> others) {
    var all = new ArrayList<>(some);
    all.addAll(others);
    return List.copyOf(all);
  }

  /// This node has released the device.
  ///
  /// @param session that can be resumed
  void confirm(DeviceKey device, Optional<RememberedSession> session) {
    List<SessionOwner> all = claimants.remove(device);
    if (all != null) {
      confirm(device, all, session);
    }
  }

  /// The device is this node's under this epoch. The nodes with older claims hear of this claim
  /// before they receive the confirmation, and so they do not serve the device.
  void confirmOlder(DeviceKey device, long epoch) {
    var older = new ArrayList<SessionOwner>();
    claimants.computeIfPresent(
        device,
        (_, all) -> {
          all.stream().filter(claimant -> claimant.epoch() < epoch).forEach(older::add);
          List<SessionOwner> newer =
              all.stream().filter(claimant -> claimant.epoch() >= epoch).toList();
          return newer.isEmpty() ? null : newer;
        });
    confirm(device, older, Optional.empty());
  }

  /// The device stays here, and its claimants are not answered.
  void discard(DeviceKey device) {
    claimants.remove(device);
  }

  private void confirm(
      DeviceKey device, List<SessionOwner> some, Optional<RememberedSession> session) {
    for (SessionOwner claimant : some) {
      if (health.isReachable() && commands.waiting() < mostWaiting) {
        commands.add(new Command.ConfirmRelease(device, claimant, session), null);
      }
    }
  }
}
