package io.pushplanet.cm.simulator;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// The messages that were accepted, received and settled, and every violation of a promise.
final class Ledger {
  private record Entry(DeviceKey device, MessageId message) {}

  private final Set<Entry> accepted = new LinkedHashSet<>();
  private final Set<Entry> received = new HashSet<>();
  private final Set<Entry> settled = new HashSet<>();
  private final List<String> violations = new ArrayList<>();
  int duplicates;

  void accepted(DeviceKey device, MessageId message) {
    accepted.add(new Entry(device, message));
  }

  /// @return whether the device received it for the first time
  boolean received(DeviceKey device, MessageId message) {
    boolean first = received.add(new Entry(device, message));
    if (!first) {
      duplicates++;
    }
    return first;
  }

  /// A node or gateway reported that the device has acknowledged this message.
  void settled(DeviceKey device, MessageId message) {
    var entry = new Entry(device, message);
    settled.add(entry);
    if (!received.contains(entry)) {
      violation(message + " counts as delivered but never reached " + device.device().value());
    }
  }

  boolean isSettled(DeviceKey device, MessageId message) {
    return settled.contains(new Entry(device, message));
  }

  void violation(String what) {
    violations.add(what);
  }

  void balance() {
    for (var entry : accepted) {
      if (!settled.contains(entry)) {
        violation(
            "%s for %s is lost%s"
                .formatted(
                    entry.message(),
                    entry.device().device().value(),
                    received.contains(entry) ? " (got, never settled)" : ""));
      }
    }
  }

  List<String> violations() {
    return List.copyOf(violations);
  }
}
