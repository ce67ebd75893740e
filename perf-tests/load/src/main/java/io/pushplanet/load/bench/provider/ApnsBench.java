package io.pushplanet.load.bench.provider;

import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.ProviderSenders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

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
  private static final List<String> FAULTS = List.of("goaway", "refused", "rst", "silent");

  /// Of 6,000: 500 are under way when the server falls silent, and of 4,000 one in a hundred is
  /// reset.
  private static final double LEAST_ANSWERED = 5_000;

  private final List<Report.Row> rows = new ArrayList<>();

  private ApnsBench() {}

  public static Result measure(Run run) {
    List<String> parts = run.some("parts", String.join(",", PARTS), PARTS);
    ApnsBench bench = new ApnsBench();
    boolean good = true;
    try (ProviderSenders senders = ProviderSenders.start(run.root(), run.ownDirectory())) {
      if (parts.contains("speed")) {
        List<Map<String, Long>> both = FullSpeed.measure(List.of(OURS, PUSHY), senders, run);
        Map<String, Long> ours = both.getFirst();
        bench.speed(ours, both.getLast());
        List<Map<String, Long>> core = FullSpeed.measure(List.of(HTTP_CORE), senders, run);
        bench.besideHttpCore(ours, core.getFirst());
        good = FullSpeed.failed(ours) == 0;
      }
      if (parts.contains("distance")) {
        Map<String, Long> ours = distance(OURS, senders, run);
        bench.distance(ours, distance(PUSHY, senders, run));
        good &= FullSpeed.failed(ours) == 0;
      }
      if (parts.contains("faults")) {
        run.out().println("faults");
        Map<String, Long> ours = senders.faults(OURS);
        bench.faults(ours, senders.faults(PUSHY));
        good &= outlives(ours);
      }
    }
    return new Result(bench.rows, good);
  }

  private static Map<String, Long> distance(String client, ProviderSenders senders, Run run) {
    run.out()
        .printf(
            Locale.ROOT,
            "a round trip of 150 ms, %s: some loads of %d s%n",
            client,
            run.measured().toSeconds());
    return senders.distance(client, run.measured());
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
    rows.add(
        new Report.Row(
            "failed with a long round trip",
            "",
            FullSpeed.failed(ours),
            (double) FullSpeed.failed(pushy),
            0.0));
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

  private void faults(Map<String, Long> ours, Map<String, Long> pushy) {
    for (String fault : FAULTS) {
      for (String what :
          List.of("answered", "failed", "hung", "never_begun", "twice", "connections")) {
        row(fault + ": " + what.replace('_', ' '), "", ours, pushy, fault + "_" + what, 1);
      }
    }
    rows.add(
        new Report.Row(
            "silent: left after",
            "s",
            rounded(leftAfterSeconds(ours)),
            rounded(leftAfterSeconds(pushy)),
            LEFT_WITHIN_SECONDS));
  }

  /// Whether a sender lost none, sent none twice, and left a dead server in time.
  ///
  /// @param faults its figures
  static boolean outlives(Map<String, Long> faults) {
    return leftAfterSeconds(faults) <= LEFT_WITHIN_SECONDS
        && value(faults, "goaway_failed") + value(faults, "refused_failed") == 0
        && FAULTS.stream()
            .allMatch(fault ->
                value(faults, fault + "_answered") >= LEAST_ANSWERED
                    && Stream.of("_hung", "_never_begun", "_twice")
                        .allMatch(what -> value(faults, fault + what) == 0));
  }

  private static double leftAfterSeconds(Map<String, Long> faults) {
    return value(faults, "silent_left_after_millis") / 1_000;
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
