package io.pushplanet.load.audit;

import io.pushplanet.load.client.AcceptedMessage;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// All facts about a run, from independent sources.
///
/// @param accepted messages answered with 202
/// @param unsure requests without an answer or with a 5xx: their messages may have been delivered
///     nevertheless
/// @param rows MySQL's deliveries of the accepted messages
/// @param tableCounts MySQL's counts per accepted message
/// @param apiCounts the API's counts, of all accepted messages or of a sample
/// @param seen how often devices and providers' ledgers saw each message; only for devices of
///     accepted messages
/// @param held messages that wait in the inbox or in `later`
/// @param inBroker messages in the broker's queues; while there are some, a queued delivery may be
///     among them
/// @param still whether no delivery has ended for a while: what the broker holds then is stuck
///     there
/// @param watched channels with watched receivers: deliveries over others cannot be checked
public record Evidence(
    List<AcceptedMessage> accepted,
    long unsure,
    List<DeliveryRow> rows,
    Map<String, Counts> tableCounts,
    Map<String, Counts> apiCounts,
    Map<Reception, Integer> seen,
    Set<Reception> held,
    long inBroker,
    boolean still,
    Set<String> watched) {
  public Evidence {
    accepted = List.copyOf(accepted);
    rows = List.copyOf(rows);
    tableCounts = Map.copyOf(tableCounts);
    apiCounts = Map.copyOf(apiCounts);
    seen = Map.copyOf(seen);
    held = Set.copyOf(held);
    watched = Set.copyOf(watched);
  }
}
