package io.pushplanet.dashboard.node;

import io.pushplanet.common.node.NodeFigures;
import io.pushplanet.common.node.NodeLease;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A node on the page.
///
/// @param figures absent when its management port does not answer
record NodeRow(NodeLease lease, @Nullable NodeAnswer figures) {

  public String state() {
    if (!lease.draining() && (figures == null || figures.drain().state().equals("OPEN"))) {
      return "up";
    }
    return switch (figures == null ? "" : figures.drain().state()) {
      case "EMPTY" -> "drained";
      case "CLOSING" -> "closing";
      default -> "draining";
    };
  }

  public String tone() {
    return state().equals("up") ? "good" : "warn";
  }

  public boolean isUp() {
    return state().equals("up");
  }

  public int devices() {
    return figures == null ? lease.sessions() : figures.sessions();
  }

  /// The two times of a message that the page draws.
  public List<Histogram> histograms() {
    return figures == null
        ? List.of()
        : List.of(
            new Histogram("Frame to PUBLISH", figures.numbers().publishToWrite()),
            new Histogram("PUBLISH to PUBACK", figures.numbers().publishToAck()));
  }

  /// The p99, such as `1.4 ms`.
  ///
  /// @param times absent when the node is of a version that does not report them
  public String millis(NodeFigures.@Nullable Times times) {
    if (times == null || times.count() == 0) {
      return "-";
    }
    double millis = times.p99Millis() > 0 ? times.p99Millis() : times.maxMillis();
    // Both times are of the last minutes, but the count is of the time since the start.
    return millis == 0 ? "-" : TimeText.of(millis);
  }

  /// `server busy 12, not authorized 3`
  ///
  /// @param counts absent when the node is of a version that does not report them
  public String counts(@Nullable Map<String, Long> counts) {
    if (counts == null) {
      return "not reported by this version";
    }
    if (counts.isEmpty()) {
      return "none";
    }
    return counts.entrySet().stream()
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .map(count ->
            count.getKey().replace('_', ' ') + String.format(Locale.ROOT, " %,d", count.getValue()))
        .collect(Collectors.joining(", "));
  }
}
