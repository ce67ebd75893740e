package io.pushplanet.cm.simulator;

import io.pushplanet.cm.inbox.InboxRow;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The waiting broadcasts, which all processes share: lists of devices, numbered in the order of
/// their commits, and a position for each device, which never passes a list whose outcome for the
/// device is not published.
final class SimShelf {
  private final World world;
  private final Ledger ledger;
  private final Set<Bug> bugs;
  private final List<Listed> lists = new ArrayList<>();
  private final Map<DeviceKey, Long> positions = new HashMap<>();
  private long lastSeq;

  private record Listed(
      long seq,
      MessageId message,
      long parkedAtMicros,
      long parkedAtMillis,
      Set<DeviceKey> devices) {}

  SimShelf(World world, Ledger ledger, Set<Bug> bugs) {
    this.world = world;
    this.ledger = ledger;
    this.bugs = bugs;
  }

  void park(Set<DeviceKey> devices, MessageId message) {
    var listed = new Listed(++lastSeq, message, world.nowMicros(), world.nowMillis(), devices);
    if (bugs.contains(Bug.NUMBERS_BEFORE_COMMITS)) {
      world.after(0, 2_000, () -> lists.add(listed));
    } else {
      lists.add(listed);
    }
    world.tell("shelf", "has " + message + " as " + listed.seq());
  }

  boolean has(DeviceKey device) {
    return lists.stream().anyMatch(listed -> isOwed(listed, device));
  }

  private boolean isOwed(Listed listed, DeviceKey device) {
    return listed.devices().contains(device) && listed.seq() > positions.getOrDefault(device, 0L);
  }

  /// The outcome of this row is published.
  void moveOn(InboxRow row) {
    var device = row.device();
    for (var listed : lists) {
      if (listed.seq() <= row.position()
          && isOwed(listed, device)
          && !ledger.isSettled(device, listed.message())) {
        ledger.violation(
            "%s moves to %d past %s, which it was not told of"
                .formatted(device.device().value(), row.position(), listed.message()));
      }
    }
    positions.merge(device, row.position(), Math::max);
  }

  /// The reader of one node: it keeps the lists that it has seen, and asks for later ones.
  final class Reader {
    private final List<Listed> known = new ArrayList<>();

    List<InboxRow> owed(DeviceKey device) {
      long last = known.isEmpty() ? 0 : known.getLast().seq();
      lists.stream()
          .filter(listed -> listed.seq() > last)
          .sorted(Comparator.comparingLong(Listed::seq))
          .forEach(known::add);
      return known.stream()
          .filter(listed -> isOwed(listed, device))
          .map(listed -> row(listed, device))
          .toList();
    }

    private InboxRow row(Listed listed, DeviceKey device) {
      var message = listed.message();
      return new InboxRow(
          device,
          message.value(),
          message,
          Binary.of(message.value() + "/shelf/" + listed.seq() + "/" + listed.parkedAtMicros()),
          listed.parkedAtMillis() + 3_600_000,
          listed.seq(),
          listed.seq(),
          InboxRow.Fate.DUE);
    }
  }
}
