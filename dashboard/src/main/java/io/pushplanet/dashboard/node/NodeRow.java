package io.pushplanet.dashboard.node;

import io.pushplanet.common.node.NodeFigures;
import io.pushplanet.common.node.NodeLease;
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

  /// `1.4 ms`, `2.0 s`
  ///
  /// @param times absent when the node is of a version that does not report them
  public String millis(NodeFigures.@Nullable Times times) {
    if (times == null || times.count() == 0) {
      return "-";
    }
    double millis = times.p99Millis() > 0 ? times.p99Millis() : times.maxMillis();
    // Both times are of the last minutes, but the count is of the time since the start.
    if (millis == 0) {
      return "-";
    }
    return millis < 1_000
        ? String.format(Locale.ROOT, millis < 10 ? "%.1f ms" : "%.0f ms", millis)
        : String.format(Locale.ROOT, "%.1f s", millis / 1_000);
  }

  /// `server busy 12, not authorized 3`
  public String counts(Map<String, Long> counts) {
    return counts.entrySet().stream()
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .map(count ->
            count.getKey().replace('_', ' ') + String.format(Locale.ROOT, " %,d", count.getValue()))
        .collect(Collectors.joining(", "));
  }
}
