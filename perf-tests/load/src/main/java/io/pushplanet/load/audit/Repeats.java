package io.pushplanet.load.audit;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/// Notifications that providers accepted more than once, from the simulators' ledger.
///
/// @param times how often a notification was accepted again
/// @param notMergeable those that a device would show beside the first, because they have no
///     collapse id or another one
public record Repeats(long times, long notMergeable) {
  private record Key(String token, String reference) {}

  /// Of all entries in the ledger.
  public static Repeats of(URI simulators) {
    Map<Key, String> first = new HashMap<>();
    long[] counts = new long[2];
    new LedgerReader(simulators)
        .eachDelivered(entry -> {
          String before =
              first.putIfAbsent(new Key(entry.token(), entry.reference()), entry.collapseId());
          if (before != null) {
            counts[0]++;
            if (before.isEmpty() || !before.equals(entry.collapseId())) {
              counts[1]++;
            }
          }
        });
    return new Repeats(counts[0], counts[1]);
  }
}
