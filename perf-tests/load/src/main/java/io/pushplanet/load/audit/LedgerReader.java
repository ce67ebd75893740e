package io.pushplanet.load.audit;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.client.HttpAnswer;
import io.pushplanet.load.client.HttpConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Reads the notifications that the simulated providers accepted, from their management port: `GET
/// /ledger?since=`, JSON lines. A notification is identified by the `ref` that its sender put into
/// its data, a device by its token.
final class LedgerReader {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(60);

  private final URI simulators;

  LedgerReader(URI simulators) {
    this.simulators = simulators;
  }

  /// @param devices by token; entries for other tokens belong to other runs
  /// @param messages message ids by reference; an unknown reference stands for itself
  Map<Reception, Integer> read(Map<String, DeviceId> devices, Map<String, String> messages) {
    Map<Reception, Integer> seen = new HashMap<>();
    eachDelivered(entry -> {
      DeviceId device = devices.get(entry.token());
      if (device != null) {
        String message = messages.getOrDefault(entry.reference(), entry.reference());
        seen.merge(new Reception(message, device), 1, Integer::sum);
      }
    });
    return seen;
  }

  /// A notification that a provider accepted.
  ///
  /// @param id the provider's or, for Apple, ours; see the simulators' `LedgerEntry`
  /// @param reference the sender's, from the data
  /// @param collapseId a device shows only the last notification of those with the same one:
  ///     `apns-collapse-id`, Web Push's `topic`, the `tag` of FCM's and HMS's notification; empty
  ///     without one
  /// @param credential how a request to Apple was authorized: `certificate` or `token`; empty for
  ///     others
  record Entry(String id, String token, String reference, String collapseId, String credential) {}

  void eachDelivered(Consumer<Entry> visitor) {
    try (HttpConnection connection = new HttpConnection(simulators, ANSWER_WITHIN)) {
      long since = 0;
      while (true) {
        byte[] request =
            HttpConnection.request("GET", simulators, "/ledger?since=" + since, "", new byte[0]);
        HttpAnswer answer = connection.exchange(request);
        if (answer.status() != 200) {
          throw new IOException("the ledger answers " + answer.status() + ": " + answer.text());
        }
        long last = since;
        for (String line : answer.text().split("\n")) {
          if (!line.isEmpty()) {
            JsonNode entry = JsonMapper.shared().readTree(line);
            last = entry.path("seq").asLong();
            if (entry.path("delivered").asBoolean(false)) {
              visitor.accept(
                  new Entry(
                      entry.path("id").asString(""),
                      entry.path("token").asString(""),
                      entry.path("payload").findPath("ref").asString(""),
                      collapseId(entry),
                      entry.path("headers").path("authorized-by").asString("")));
            }
          }
        }
        if (last == since) {
          return;
        }
        since = last;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot read the ledger of the simulators at " + simulators, e);
    }
  }

  private static String collapseId(JsonNode entry) {
    JsonNode headers = entry.path("headers");
    return Stream.of(
            headers.path("apns-collapse-id"),
            headers.path("topic"),
            entry.path("payload").findPath("tag"))
        .map(id -> id.asString(""))
        .filter(id -> !id.isEmpty())
        .findFirst()
        .orElse("");
  }
}
