package io.pushplanet.load.bench.provider;

import io.pushplanet.load.bench.Run;
import io.pushplanet.load.node.ProviderSenders;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/// The connections and requests of a sender at full speed: the loads that `SenderProgram` measures
/// one after the other, in three turns each.
record FullSpeed(int connections, int inFlight) {
  static final int[] CONNECTIONS = {1, 2, 4};
  static final int[] IN_FLIGHT = {100, 500, 900};

  static List<FullSpeed> all() {
    return IntStream.of(CONNECTIONS)
        .boxed()
        .flatMap(connections ->
            IntStream.of(IN_FLIGHT).mapToObj(inFlight -> new FullSpeed(connections, inFlight)))
        .toList();
  }

  /// The cost of all loads for each client, by [#key]. The clients take turns, so that a row
  /// compares moments that are close to each other. Prints beforehand how long that takes.
  static List<Map<String, Long>> measure(List<String> clients, ProviderSenders senders, Run run) {
    int loads = all().size();
    long seconds = run.measured().toSeconds();
    run.out()
        .printf(
            Locale.ROOT,
            "full speed, %s: %d loads of %d s, %d s at least%n",
            String.join(" and ", clients),
            loads,
            seconds,
            clients.size() * loads * seconds);
    return senders.speed(clients, run.measured());
  }

  /// How many notifications failed over all loads: each also counts as one of the rate.
  static long failed(Map<String, Long> figures) {
    return figures.entrySet().stream()
        .filter(figure -> figure.getKey().endsWith("_failed"))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /// The program's name for one of its figures.
  String key(String figure) {
    return "c" + connections + "_f" + inFlight + "_" + figure;
  }

  /// For people.
  String words() {
    return connections + " connections, " + inFlight + " in flight";
  }
}
