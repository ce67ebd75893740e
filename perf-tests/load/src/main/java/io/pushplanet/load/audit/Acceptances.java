package io.pushplanet.load.audit;

import java.net.URI;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// Notifications to devices that simulated APNs accepted, by the `apns-id` that the platform gave
/// them.
///
/// @param notifications different ones
/// @param again how often one of them was accepted once more
/// @param byCredential acceptances by what authorized them: `certificate` or `token`
public record Acceptances(long notifications, long again, Map<String, Long> byCredential) {
  public Acceptances {
    byCredential = new TreeMap<>(byCredential);
  }

  /// To whom a worker sends when it tries a credential. The simulator takes it for a device, unless
  /// it runs with `--strict-tokens`.
  private static final String NOBODY = "00".repeat(32);

  /// All entries in the ledger.
  public static Acceptances of(URI simulators) {
    Set<String> ids = new HashSet<>();
    Map<String, Long> byCredential = new HashMap<>();
    new LedgerReader(simulators)
        .eachDelivered(entry -> {
          if (!entry.token().equals(NOBODY)) {
            ids.add(entry.id());
            byCredential.merge(entry.credential(), 1L, Long::sum);
          }
        });
    long all = byCredential.values().stream().mapToLong(Long::longValue).sum();
    return new Acceptances(ids.size(), all - ids.size(), byCredential);
  }
}
