package io.pushplanet.load.bench;

import java.util.List;
import java.util.stream.IntStream;

/// What a sender at full speed has open: the loads that `SenderProgram` measures one after the other.
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

  /// The program's name for one of its figures.
  String key(String figure) {
    return "c" + connections + "_f" + inFlight + "_" + figure;
  }

  /// For people.
  String words() {
    return connections + " connections, " + inFlight + " in flight";
  }
}
