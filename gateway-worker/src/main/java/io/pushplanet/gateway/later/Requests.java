package io.pushplanet.gateway.later;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/// Counts the requests that chosen rows fill, each with several devices of one message, and numbers
/// the messages. Not thread-safe.
final class Requests {
  private final int most;
  private final int together;
  private final Map<String, Integer> devices = new HashMap<>();
  private final Map<String, Integer> numbers = new HashMap<>();
  private final BitSet used = new BitSet();
  private int begun;

  /// @param most requests
  /// @param together devices per request
  Requests(int most, int together) {
    this.most = most;
    this.together = together;
  }

  /// Adds a row of a message.
  ///
  /// @return false when the row would need a request too many
  boolean add(String message) {
    int before = devices.getOrDefault(message, 0);
    boolean begins = before % together == 0;
    if (begins && begun == most) {
      return false;
    }
    devices.put(message, before + 1);
    numbers.computeIfAbsent(
        message,
        _ -> {
          int number = used.nextClearBit(0);
          used.set(number);
          return number;
        });
    begun += begins ? 1 : 0;
    return true;
  }

  /// Takes back a row that was added. The number of a message without rows is free for another one.
  void remove(String message) {
    int after = devices.merge(message, -1, Integer::sum);
    begun -= after % together == 0 ? 1 : 0;
    if (after == 0) {
      used.clear(number(message));
      numbers.remove(message);
    }
  }

  /// How many requests the rows need.
  int begun() {
    return begun;
  }

  /// From zero and below [#most], in the order in which messages were added. No two messages with
  /// rows share a number.
  int number(String message) {
    return numbers.getOrDefault(message, 0);
  }
}
