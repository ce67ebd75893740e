package io.pushplanet.load.bench.message;

import io.pushplanet.load.audit.Account;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.measure.Journey;
import io.pushplanet.load.measure.ProcessorTime;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.scenario.Traffic;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// How many unicast messages per second are accepted, each after the broker's confirm, while all
/// later steps (delivery, outcomes, rows) run on the same machine.
public final class AcceptBench {
  private static final int DEVICES = 500;
  private static final List<Integer> CLIENTS = List.of(64, 500);

  /// A dispatcher's compiler is busy for its first 150,000 requests or so.
  private static final int WARM_UP_SECONDS = 60;

  private static final Duration DRAINED_WITHIN = Duration.ofSeconds(180);

  private AcceptBench() {}

  public static Result measure(Run run) {
    List<Integer> clients = run.numbers("clients", CLIENTS);
    Duration warmUp = Duration.ofSeconds(run.number("warm-up", WARM_UP_SECONDS));
    PrintStream out = run.out();
    List<Report.Row> rows = new ArrayList<>();
    out.println("connecting " + DEVICES + " devices");
    try (Bed bed = new Bed(run.target(), run.directory(), run.name(), DEVICES)) {
      rows.addAll(warmUp(bed, clients, warmUp, out));
      for (int some : clients) {
        out.println("sending with " + some + " clients for " + run.measured().toSeconds() + " s");
        rows.addAll(part(bed, some, run.measured(), out));
      }
      Account account = bed.audit(DRAINED_WITHIN);
      out.println();
      out.print(account.text());
      rows.add(Report.Row.of("lost", "messages", account.lost().size()));
      rows.add(Report.Row.of("not delivered", "messages", account.undelivered(), 0));
      rows.add(Report.Row.of("duplicates", "messages", account.duplicates()));
      return new Result(rows, account.deliversAll());
    }
  }

  /// The warm-up's length and messages are reported, because they tell how warm the programs were.
  private static List<Report.Row> warmUp(
      Bed bed, List<Integer> clients, Duration length, PrintStream out) {
    out.println("warming up for " + length.toSeconds() + " s");
    Journey journey = new Journey(() -> {});
    for (int some : clients) {
      bed.send("warm" + some, some, journey, until(length.dividedBy(clients.size())));
    }
    bed.awaitArrivals(DRAINED_WITHIN);
    return List.of(
        Report.Row.of("warm-up", "s", length.toSeconds()),
        Report.Row.of("accepted in the warm-up", "messages", journey.accepted()));
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
    after
        .perOperation(before, journey.accepted())
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
