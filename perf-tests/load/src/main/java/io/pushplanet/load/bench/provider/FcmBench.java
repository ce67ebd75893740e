package io.pushplanet.load.bench.provider;

import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.ProviderSenders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/// The cost of a notification of 1 KB to FCM for our sender, with a server that only answers: each
/// notification of a message of its own, or all of one message, which is written once.
public final class FcmBench {
  /// The clients' names in `FcmRequests`, and the texts for people.
  private static final SequencedMap<String, String> CLIENTS =
      new TreeMap<>(Map.of("fcm", "a message each", "fcm-to-all", "one message to all"));

  private FcmBench() {}

  public static Result measure(Run run) {
    List<Report.Row> rows = new ArrayList<>();
    long failed = 0;
    try (ProviderSenders senders = ProviderSenders.start(run.root(), run.ownDirectory())) {
      var both = FullSpeed.measure(List.copyOf(CLIENTS.keySet()), senders, run).iterator();
      for (String words : CLIENTS.values()) {
        Map<String, Long> figures = both.next();
        tell(words, figures, rows);
        failed += FullSpeed.failed(figures);
      }
    }
    rows.add(Report.Row.of("failed", "", failed));
    return new Result(rows, failed == 0);
  }

  private static void tell(String what, Map<String, Long> figures, List<Report.Row> rows) {
    for (FullSpeed load : FullSpeed.all()) {
      String with = " (" + what + ", " + load.words() + ")";
      double nanos = Math.max(1, figures.getOrDefault(load.key("cpu_nanos"), 0L));
      rows.add(Report.Row.of("notifications per CPU-second" + with, "", 1e9 / nanos));
      rows.add(Report.Row.of("CPU per notification" + with, "us", nanos / 1_000));
      rows.add(row("rate" + with, "1/s", figures, load.key("rate"), 1));
      rows.add(row("garbage per notification" + with, "bytes", figures, load.key("bytes"), 1));
      rows.add(row("p99" + with, "ms", figures, load.key("p99_micros"), 1_000));
    }
  }

  private static Report.Row row(
      String metric, String unit, Map<String, Long> figures, String key, double divisor) {
    return Report.Row.of(metric, unit, figures.getOrDefault(key, 0L) / divisor);
  }
}
