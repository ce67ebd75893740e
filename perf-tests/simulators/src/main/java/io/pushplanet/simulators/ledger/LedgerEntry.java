package io.pushplanet.simulators.ledger;

import java.time.Instant;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// One request to a simulator and its outcome.
///
/// @param seq grows by one with each entry
/// @param token the device token, of a Web Push subscription the last segment of its endpoint, of
///     FCM also `/topics/news` or a condition; empty without one
/// @param id `apns-id`, the FCM message name, Push Kit's `requestId` or the number of a Web Push
///     message; empty when refused by others than Apple
/// @param status the HTTP status, 0 without an answer
/// @param reason the provider's reason, empty on success
/// @param delivered whether the notification counts as accepted by the provider, independent of the
///     answer
/// @param headers the relevant request headers
/// @param payload the device's payload
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
