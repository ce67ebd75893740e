package io.pushplanet.load.bench;

import io.pushplanet.load.audit.Account;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// Messages all the way to the device's acknowledgement: first as many as go with a bounded number under way, then evenly
/// at half of that rate, where latency says something.
final class EndToEndBench {
  private static final int DEVICES = 1_000;
  private static final int CLIENTS = 64;
  private static final int UNDER_WAY = 1_000;
  private static final Duration WARM_UP = Duration.ofSeconds(8);
  private static final Duration ARRIVED_WITHIN = Duration.ofSeconds(60);

  private EndToEndBench() {}

  static Benchmark.Result measure(
      Target target, Path directory, String run, Duration each, PrintStream out) {
    List<Report.Row> rows = new ArrayList<>();
    out.println("connecting " + DEVICES + " devices");
    try (Bed bed = new Bed(target, directory, run, DEVICES)) {
      out.println("warming up for " + WARM_UP.toSeconds() + " s");
      full(bed, "warm", WARM_UP);
      out.println("full load, " + UNDER_WAY + " under way, for " + each.toSeconds() + " s");
      Part full = full(bed, "full", each);
      rows.addAll(full.rows("full load"));
      double half = full.journey.arrived() / full.seconds / 2;
      out.printf("half load, %.0f messages per second, for %d s%n", half, each.toSeconds());
      rows.addAll(half(bed, half, each).rows("half load"));
      Account account = bed.audit(ARRIVED_WITHIN);
      out.println();
      out.print(account.text());
      rows.add(Report.Row.of("messages", "messages", account.messages()));
      rows.add(Report.Row.of("lost", "messages", account.lost().size()));
      rows.add(Report.Row.of("duplicates", "messages", account.duplicates()));
      return new Benchmark.Result(rows, account.balances());
    }
  }

  private static Part full(Bed bed, String name, Duration length) {
    Semaphore room = new Semaphore(UNDER_WAY);
    long end = System.nanoTime() + length.toNanos();
    return part(
        bed,
        name,
        new Journey(room::release),
        () ->
            room.tryAcquire(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS)
                && System.nanoTime() - end < 0);
  }

  private static Part half(Bed bed, double perSecond, Duration length) {
    return part(
        bed,
        "half",
        new Journey(() -> {}),
        Traffic.Gate.paced(perSecond, System.nanoTime() + length.toNanos()));
  }

  private static Part part(Bed bed, String name, Journey journey, Traffic.Gate gate) {
    ProcessorTime before = bed.processorTime();
    long start = System.nanoTime();
    Traffic traffic = bed.send(name, CLIENTS, journey, gate);
    bed.awaitArrivals(ARRIVED_WITHIN);
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Part(
        journey,
        seconds,
        before,
        bed.processorTime(),
        traffic.refusals().values().stream().mapToLong(Long::longValue).sum());
  }

  private record Part(
      Journey journey,
      double seconds,
      ProcessorTime before,
      ProcessorTime after,
      long notAccepted) {

    List<Report.Row> rows(String load) {
      String at = " (" + load + ")";
      List<Report.Row> rows = new ArrayList<>();
      rows.add(Report.Row.of("delivered" + at, "1/s", journey.arrived() / seconds));
      rows.add(Report.Row.of("accepted to PUBACK p50" + at, "ms", ms(journey.sinceAccepted(), 50)));
      rows.add(Report.Row.of("accepted to PUBACK p99" + at, "ms", ms(journey.sinceAccepted(), 99)));
      rows.add(Report.Row.of("request to PUBACK p50" + at, "ms", ms(journey.sinceSent(), 50)));
      rows.add(Report.Row.of("request to PUBACK p99" + at, "ms", ms(journey.sinceSent(), 99)));
      rows.add(Report.Row.of("not accepted" + at, "requests", notAccepted));
      Bed.perOperation(before, after, journey.arrived())
          .forEach((program, micros) ->
              rows.add(Report.Row.of("CPU per message: " + program + at, "us", micros)));
      return rows;
    }

    private static double ms(Histogram histogram, double percentile) {
      return histogram.getValueAtPercentile(percentile) / 1_000.0;
    }
  }
}
