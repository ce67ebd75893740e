package io.pushplanet.load.bench.message;

import io.pushplanet.load.audit.Account;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.measure.Journey;
import io.pushplanet.load.measure.ProcessorTime;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.measure.Timelines;
import io.pushplanet.load.scenario.Traffic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// Messages from the request to the device's acknowledgement: first as fast as possible with a
/// bounded number in flight, then evenly at half of that rate, or at a given rate, where latency is
/// meaningful; and once more so, until the API reports the delivery.
public final class EndToEndBench {
  private static final int DEVICES = 1_000;
  private static final int CLIENTS = 64;
  private static final int UNDER_WAY = 1_000;
  private static final int WARM_UP_SECONDS = 30;
  private static final Duration ARRIVED_WITHIN = Duration.ofSeconds(60);

  /// The API reports a delivery within this time.
  private static final Duration TOLD_WITHIN = Duration.ofSeconds(2);

  private EndToEndBench() {}

  public static Result measure(Run run) {
    Optional<Integer> rate = run.option("rate").map(_ -> run.number("rate", 0));
    if (rate.filter(asked -> asked < 1).isPresent()) {
      throw new IllegalArgumentException("--rate is messages a second, at least 1");
    }
    Duration warmUp = Duration.ofSeconds(run.number("warm-up", WARM_UP_SECONDS));
    long seconds = run.each().toSeconds();
    List<Report.Row> rows = new ArrayList<>();
    run.say("connecting %d devices", DEVICES);
    try (Bed bed = new Bed(run.target(), run.directory(), run.name(), DEVICES)) {
      run.say("warming up for %d s", warmUp.toSeconds());
      full(bed, "warm", warmUp);
      run.say("full load, %d under way, for %d s", UNDER_WAY, seconds);
      Part full = full(bed, "full", run.each());
      rows.addAll(full.rows("full load"));
      double even =
          rate.map(Integer::doubleValue).orElseGet(() -> full.journey.arrived() / full.seconds / 2);
      String load = rate.map(asked -> asked + " a second").orElse("half load");
      run.say("%s, %.0f messages per second, for %d s", load, even, seconds);
      rows.addAll(evenly(bed, even, run.each(), new Journey(() -> {})).rows(load));
      run.say("the same, with a look at timelines");
      rows.addAll(timelines(run, bed, even, load));
      Account account = bed.audit(ARRIVED_WITHIN);
      run.say("");
      run.out().print(account.text());
      rows.add(Report.Row.of("messages", "messages", account.messages()));
      rows.add(Report.Row.of("lost", "messages", account.lost().size()));
      rows.add(Report.Row.of("duplicates", "messages", account.duplicates()));
      return new Result(rows, account.balances());
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

  /// Separately, because the requests to the API cost the programs time as well.
  private static List<Report.Row> timelines(Run run, Bed bed, double perSecond, String load) {
    try (Timelines timelines = new Timelines(run.target())) {
      evenly(bed, perSecond, run.each(), new Journey(() -> {}, timelines));
      Histogram micros = timelines.micros();
      String at = " (" + load + ")";
      return List.of(
          Report.Row.of("PUBACK to the API's timeline p50" + at, "ms", Part.ms(micros, 50)),
          Report.Row.of(
              "PUBACK to the API's timeline p99" + at,
              "ms",
              Part.ms(micros, 99),
              TOLD_WITHIN.toMillis()),
          Report.Row.of("PUBACK to the API's timeline, longest" + at, "ms", Part.ms(micros, 100)),
          Report.Row.of("timelines looked at" + at, "", micros.getTotalCount()),
          Report.Row.of("not told within 30 s" + at, "", timelines.untold()));
    }
  }

  private static Part evenly(Bed bed, double perSecond, Duration length, Journey journey) {
    return part(
        bed, "even", journey, Traffic.Gate.paced(perSecond, System.nanoTime() + length.toNanos()));
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
      after
          .perOperation(before, journey.arrived())
          .forEach((program, micros) ->
              rows.add(Report.Row.of("CPU per message: " + program + at, "us", micros)));
      return rows;
    }

    private static double ms(Histogram histogram, double percentile) {
      return histogram.getValueAtPercentile(percentile) / 1_000.0;
    }
  }
}
