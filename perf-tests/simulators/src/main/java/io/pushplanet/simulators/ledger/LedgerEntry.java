package io.pushplanet.simulators.ledger;

import java.time.Instant;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// One request to a simulator and what became of it.
///
/// @param seq grows by one with each entry
/// @param token the device token, of a Web Push subscription the last segment of its endpoint, of FCM also `/topics/news` or a condition; empty where there was none
/// @param id `apns-id`, the FCM message name, Push Kit's `requestId` or the number of a Web Push message; empty when refused by others than Apple
/// @param status the HTTP status, 0 where no answer was given
/// @param reason the provider's reason, empty on success
/// @param delivered whether the notification counts as accepted by the provider, whatever the answer said
/// @param headers the request headers that matter
/// @param payload what the device would get
public record LedgerEntry(
    long seq,
    Instant at,
    Simulated provider,
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
