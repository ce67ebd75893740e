package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/// The events that a writer could not write even alone, and how often. A try counts only where something else was written
/// since the one before: while nothing is, the fault is not the event's. Confined to its writer.
final class Unwritable {
  static final int MOST_TRIES = 10;
  static final int MOST_REMEMBERED = 1_000;

  private final SequencedMap<String, Tries> tries = new LinkedHashMap<>();
  private long writes;

  private record Tries(int count, long writesBefore) {}

  /// Something was written.
  void wrote() {
    writes++;
  }

  /// @return whether that was the last try
  boolean failedAlone(DeliveryEvent event) {
    String key = new String(WireForm.write(event), StandardCharsets.UTF_8);
    Tries before = tries.remove(key);
    int count = before == null ? 1 : before.count() + (writes > before.writesBefore() ? 1 : 0);
    if (count >= MOST_TRIES) {
      return true;
    }
    tries.put(key, new Tries(count, writes));
    if (tries.size() > MOST_REMEMBERED) {
      tries.pollFirstEntry();
    }
    return false;
  }
}
