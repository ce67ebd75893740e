package io.pushplanet.load.bench;

import io.pushplanet.load.audit.Account;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// How many unicast messages a second are accepted, each after the broker's confirm, while all that follows an accept
/// (delivery, outcomes, rows) goes on beside it on the same machine.
final class AcceptBench {
  private static final int DEVICES = 500;
  private static final List<Integer> CLIENTS = List.of(64, 500);
  private static final Duration WARM_UP = Duration.ofSeconds(8);
  private static final Duration DRAINED_WITHIN = Duration.ofSeconds(180);

  private AcceptBench() {}

  static Benchmark.Result measure(
      Target target, Path directory, String run, Duration each, PrintStream out) {
    List<Report.Row> rows = new ArrayList<>();
    out.println("connecting " + DEVICES + " devices");
    try (Bed bed = new Bed(target, directory, run, DEVICES)) {
      out.println("warming up for " + WARM_UP.toSeconds() + " s");
      bed.send("warm", 64, new Journey(() -> {}), until(WARM_UP));
      bed.awaitArrivals(DRAINED_WITHIN);
      for (int clients : CLIENTS) {
        out.println("sending with " + clients + " clients for " + each.toSeconds() + " s");
        rows.addAll(part(bed, clients, each, out));
      }
      Account account = bed.audit(DRAINED_WITHIN);
      out.println();
      out.print(account.text());
      rows.add(Report.Row.of("lost", "messages", account.lost().size()));
      rows.add(Report.Row.of("duplicates", "messages", account.duplicates()));
      return new Benchmark.Result(rows, account.balances());
    }
  }

  private static List<Report.Row> part(Bed bed, int clients, Duration each, PrintStream out) {
    Journey journey = new Journey(() -> {});
    ProcessorTime before = bed.processorTime();
    long start = System.nanoTime();
    Traffic traffic = bed.send("accept" + clients, clients, journey, until(each));
    double seconds = (System.nanoTime() - start) / 1e9;
    ProcessorTime after = bed.processorTime();
    long backlog = journey.accepted() - journey.arrived();
    long drainStart = System.nanoTime();
    boolean drained = bed.awaitArrivals(DRAINED_WITHIN);
    if (!traffic.refusals().isEmpty()) {
      out.println("not accepted: " + traffic.refusals());
    }
    String with = " (" + clients + " clients)";
    List<Report.Row> rows = new ArrayList<>();
    rows.add(Report.Row.of("accepts" + with, "1/s", journey.accepted() / seconds));
    rows.add(Report.Row.of("accept p50" + with, "ms", ms(journey, 50)));
    rows.add(Report.Row.of("accept p99" + with, "ms", ms(journey, 99)));
    rows.add(
        Report.Row.of(
            "not accepted" + with,
            "requests",
            traffic.refusals().values().stream().mapToLong(Long::longValue).sum()));
    rows.add(
        Report.Row.of(
            "delivered meanwhile" + with, "1/s", (journey.accepted() - backlog) / seconds));
    rows.add(Report.Row.of("backlog at the end" + with, "messages", backlog));
    rows.add(
        Report.Row.of(
            (drained ? "backlog delivered after" : "backlog NOT delivered after") + with,
            "s",
            (System.nanoTime() - drainStart) / 1e9));
    Bed.perOperation(before, after, journey.accepted())
        .forEach((program, micros) ->
            rows.add(Report.Row.of("CPU per accept: " + program + with, "us", micros)));
    return rows;
  }

  private static Traffic.Gate until(Duration fromNow) {
    return Traffic.Gate.until(System.nanoTime() + fromNow.toNanos());
  }

  private static double ms(Journey journey, double percentile) {
    return journey.accepts().getValueAtPercentile(percentile) / 1_000.0;
  }
}
