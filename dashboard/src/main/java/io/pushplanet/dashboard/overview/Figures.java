package io.pushplanet.dashboard.overview;

import io.pushplanet.dashboard.overview.StatisticsMapper.Counted;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The figures of the charts: one number for each step of time.
///
/// @param starts when each step begins
/// @param failed by reason, the most frequent first; the reasons beyond [#MAX_REASONS] together
record Figures(
    List<Instant> starts, long[] accepted, long[] delivered, List<ByReason> failed, Totals totals) {
  static final int MAX_REASONS = 6;

  record ByReason(String reason, long[] counts, long total) {}

  /// The sums over the whole time.
  record Totals(
      long accepted, long delivered, long failed, long expired, long cancelled, long opened) {}

  /// The span that is shown, and its step.
  enum Span {
    HOUR(Duration.ofHours(1), Duration.ofMinutes(1)),
    DAY(Duration.ofDays(1), Duration.ofMinutes(15));

    private final Duration length;
    private final Duration step;

    Span(Duration length, Duration step) {
      this.length = length;
      this.step = step;
    }

    int steps() {
      return (int) length.dividedBy(step);
    }

    /// The first step; the last one is the step that `now` lies in.
    Instant start(Instant now) {
      long seconds = step.toSeconds();
      long current = Math.floorDiv(now.getEpochSecond(), seconds) * seconds;
      return Instant.ofEpochSecond(current - (steps() - 1) * seconds);
    }
  }

  static Figures of(List<Counted> rows, Span span, Instant now) {
    Instant start = span.start(now);
    List<Instant> starts = new ArrayList<>();
    for (int i = 0; i < span.steps(); i++) {
      starts.add(start.plus(span.step.multipliedBy(i)));
    }
    long[] accepted = new long[span.steps()];
    long[] delivered = new long[span.steps()];
    long expired = 0;
    long cancelled = 0;
    long opened = 0;
    Map<String, long[]> failed = new TreeMap<>();
    for (Counted row : rows) {
      long step = Duration.between(start, row.minute()).dividedBy(span.step);
      if (row.minute().isBefore(start) || step >= span.steps()) {
        continue;
      }
      int at = (int) step;
      switch (row.outcome()) {
        case "accepted" -> accepted[at] += row.count();
        case "delivered" -> delivered[at] += row.count();
        case "failed" ->
            failed
                    .computeIfAbsent(
                        row.reason().isEmpty() ? "unknown" : row.reason(),
                        _ -> new long[span.steps()])[at] +=
                row.count();
        case "expired" -> expired += row.count();
        case "cancelled" -> cancelled += row.count();
        case "opened" -> opened += row.count();
        default -> {
          // an outcome that only a newer version knows
        }
      }
    }
    List<ByReason> reasons = byReason(failed);
    Totals totals =
        new Totals(
            sum(accepted),
            sum(delivered),
            reasons.stream().mapToLong(ByReason::total).sum(),
            expired,
            cancelled,
            opened);
    return new Figures(List.copyOf(starts), accepted, delivered, reasons, totals);
  }

  private static List<ByReason> byReason(Map<String, long[]> failed) {
    List<ByReason> all = new ArrayList<>();
    failed.forEach((reason, counts) -> all.add(new ByReason(reason, counts, sum(counts))));
    all.sort(Comparator.comparingLong(ByReason::total).reversed());
    if (all.size() <= MAX_REASONS) {
      return List.copyOf(all);
    }
    List<ByReason> most = new ArrayList<>(all.subList(0, MAX_REASONS - 1));
    long[] others = new long[all.getFirst().counts().length];
    for (ByReason rest : all.subList(MAX_REASONS - 1, all.size())) {
      for (int i = 0; i < others.length; i++) {
        others[i] += rest.counts()[i];
      }
    }
    most.add(new ByReason("other reasons", others, sum(others)));
    return List.copyOf(most);
  }

  private static long sum(long[] counts) {
    long sum = 0;
    for (long count : counts) {
      sum += count;
    }
    return sum;
  }
}
