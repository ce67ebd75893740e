package io.pushplanet.load.bench.provider;

import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.ProviderSenders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The cost of a notification of 1 KB for our HTTP/2 connections and for pushy, with one server in
/// the same run: at full speed (HttpComponents Core there as well), with a long round trip, and
/// when the server misbehaves.
public final class ApnsBench {
  private static final String OURS = "ours";
  private static final String PUSHY = "pushy";
  private static final String HTTP_CORE = "httpcore";
  private static final List<String> PARTS = List.of("speed", "distance", "faults");
  private static final double SHARE_GOAL = 0.95;
  private static final double ROUND_TRIP_SECONDS = 0.15;
  private static final double LEFT_WITHIN_SECONDS = 3.0;

  private final List<Report.Row> rows = new ArrayList<>();

  private ApnsBench() {}

  public static Result measure(Run run) {
    List<String> parts = run.some("parts", String.join(",", PARTS), PARTS);
    ApnsBench bench = new ApnsBench();
    boolean exact = true;
    try (ProviderSenders senders = ProviderSenders.start(run.root(), run.ownDirectory())) {
      if (parts.contains("speed")) {
        Map<String, Long> ours = FullSpeed.measure(OURS, senders, run);
        bench.speed(ours, FullSpeed.measure(PUSHY, senders, run));
        bench.besideHttpCore(ours, FullSpeed.measure(HTTP_CORE, senders, run));
      }
      if (parts.contains("distance")) {
        bench.distance(distance(OURS, senders, run), distance(PUSHY, senders, run));
      }
      if (parts.contains("faults")) {
        run.out().println("faults");
        exact = bench.faults(senders.faults(OURS), senders.faults(PUSHY));
      }
    }
    return new Result(bench.rows, exact);
  }

  private static Map<String, Long> distance(String client, ProviderSenders senders, Run run) {
    run.out()
        .printf(
            Locale.ROOT,
            "a round trip of 150 ms, %s: some loads of %d s%n",
            client,
            run.each().toSeconds());
    return senders.distance(client, run.each());
  }

  private void speed(Map<String, Long> ours, Map<String, Long> pushy) {
    for (FullSpeed load : FullSpeed.all()) {
      String with = " (" + load.words() + ")";
      String cpu = load.key("cpu_nanos");
      row("CPU per notification" + with, "us", ours, pushy, cpu, 1_000);
      double ratio = value(pushy, cpu) / value(ours, cpu);
      rows.add(
          new Report.Row(
              "notifications per CPU-second, of pushy's" + with, "", rounded(ratio), 1.0, 1.0));
      row("rate" + with, "1/s", ours, pushy, load.key("rate"), 1);
      row("garbage per notification" + with, "bytes", ours, pushy, load.key("bytes"), 1);
      row("p99" + with, "ms", ours, pushy, load.key("p99_micros"), 1_000);
      row("failed" + with, "", ours, pushy, load.key("failed"), 1);
    }
  }

  private void besideHttpCore(Map<String, Long> ours, Map<String, Long> core) {
    for (FullSpeed load : FullSpeed.all()) {
      String metric = "CPU beside httpcore5-h2's (" + load.words() + ")";
      row(metric, "us", ours, core, load.key("cpu_nanos"), 1_000);
    }
    int most = FullSpeed.CONNECTIONS[FullSpeed.CONNECTIONS.length - 1];
    for (int inFlight : FullSpeed.IN_FLIGHT) {
      rows.add(
          new Report.Row(
              "CPU on "
                  + most
                  + " connections beside httpcore5-h2's with 25 streams on each ("
                  + inFlight
                  + " in flight)",
              "us",
              rounded(value(ours, new FullSpeed(most, inFlight).key("cpu_nanos")) / 1_000),
              rounded(value(core, "few_f" + inFlight + "_cpu_nanos") / 1_000),
              null));
    }
  }

  private void distance(Map<String, Long> ours, Map<String, Long> pushy) {
    share("far_c1_f100", "1 connection, 100 streams", 100, ours, pushy);
    share("far_c1_f900", "1 connection, 900 streams", 900, ours, pushy);
    share("far_c4_f3600", "4 connections, 3600 streams", 3_600, ours, pushy);
    row("rate, windows of 64 KB, 1 connection", "1/s", ours, pushy, "narrow_c1_f900_rate", 1);
    row("rate, windows of 64 KB, 8 connections", "1/s", ours, pushy, "narrow_c8_f900_rate", 1);
    rows.add(
        Report.Row.of(
            "rate, 100 senders, a connection for each notification",
            "1/s",
            value(ours, "unpooled_f100_rate")));
  }

  private void share(
      String key, String with, int streams, Map<String, Long> ours, Map<String, Long> pushy) {
    row("rate, " + with, "1/s", ours, pushy, key + "_rate", 1);
    double most = streams / ROUND_TRIP_SECONDS;
    rows.add(
        new Report.Row(
            "share of streams / round trip, " + with,
            "",
            rounded(value(ours, key + "_rate") / most),
            rounded(value(pushy, key + "_rate") / most),
            SHARE_GOAL));
  }

  /// @return whether ours lost none, sent none twice, and left a dead server in time
  private boolean faults(Map<String, Long> ours, Map<String, Long> pushy) {
    for (String fault : List.of("goaway", "refused", "rst", "silent")) {
      for (String what :
          List.of("answered", "failed", "hung", "never_begun", "twice", "connections")) {
        row(fault + ": " + what.replace('_', ' '), "", ours, pushy, fault + "_" + what, 1);
      }
    }
    double left = value(ours, "silent_left_after_millis") / 1_000;
    rows.add(
        new Report.Row(
            "silent: left after",
            "s",
            rounded(left),
            rounded(value(pushy, "silent_left_after_millis") / 1_000),
            LEFT_WITHIN_SECONDS));
    return left <= LEFT_WITHIN_SECONDS
        && value(ours, "goaway_failed") + value(ours, "refused_failed") == 0
        && List.of("goaway", "refused", "rst", "silent").stream()
            .allMatch(fault -> value(ours, fault + "_hung") + value(ours, fault + "_twice") == 0);
  }

  private void row(
      String metric,
      String unit,
      Map<String, Long> ours,
      Map<String, Long> pushy,
      String key,
      int divisor) {
    rows.add(
        new Report.Row(
            metric,
            unit,
            rounded(value(ours, key) / divisor),
            rounded(value(pushy, key) / divisor),
            null));
  }

  private static double value(Map<String, Long> figures, String key) {
    return figures.getOrDefault(key, 0L);
  }

  private static double rounded(double value) {
    return Math.round(value * 100) / 100.0;
  }
}
