package io.pushplanet.simulators.ledger;

import java.time.Instant;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// One request to a simulator and what became of it.
///
/// @param seq grows by one with each entry
/// @param token the device token, empty where the request had none
/// @param id `apns-id`, or the FCM message name; empty when refused by FCM
/// @param status the HTTP status, 0 where no answer was given
/// @param reason the provider's reason, empty on success
/// @param delivered whether the notification counts as accepted by the provider, whatever the answer said
/// @param headers the request headers that matter
/// @param payload what the device would get
public record LedgerEntry(
    long seq,
    Instant at,
    Provider provider,
    String token,
    String id,
    int status,
    String reason,
    boolean delivered,
    Map<String, String> headers,
    JsonNode payload) {
  public LedgerEntry {
    headers = Map.copyOf(headers);
  }
}
