package io.pushplanet.load.bench.message;

import io.pushplanet.load.audit.Account;
import io.pushplanet.load.bench.Findings;
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

  private final Run run;
  private final Bed bed;
  private final Findings findings = new Findings();

  private EndToEndBench(Run run, Bed bed) {
    this.run = run;
    this.bed = bed;
  }

  public static Result measure(Run run) {
    Optional<Integer> rate = run.option("rate").map(_ -> run.number("rate", 0));
    if (rate.filter(asked -> asked < 1).isPresent()) {
      throw new IllegalArgumentException("--rate is messages a second, at least 1");
    }
    run.say("connecting %d devices", DEVICES);
    try (Bed bed = new Bed(run.target(), run.directory(), run.name(), DEVICES)) {
      return new EndToEndBench(run, bed).measure(rate);
    }
  }

  private Result measure(Optional<Integer> rate) {
    Duration warmUp = Duration.ofSeconds(run.number("warm-up", WARM_UP_SECONDS));
    long seconds = run.measured().toSeconds();
    run.say("warming up for %d s", warmUp.toSeconds());
    full("warm", warmUp);
    run.say("full load, %d under way, for %d s", UNDER_WAY, seconds);
    Part full = full("full", run.measured());
    findings.rows(full.rows("full load"));
    double even =
        rate.map(Integer::doubleValue).orElseGet(() -> full.journey.arrived() / full.seconds / 2);
    String load = rate.map(asked -> asked + " a second").orElse("half load");
    run.say("%s, %.0f messages per second, for %d s", load, even, seconds);
    findings.rows(evenly(even, new Journey(() -> {})).rows(load));
    run.say("the same, with a look at timelines");
    timelines(even, load);
    Account account = bed.audit(ARRIVED_WITHIN);
    run.say("");
    run.out().print(account.text());
    findings.row("messages", "messages", account.messages());
    findings.row("lost", "messages", account.lost().size());
    findings.none("not delivered", "messages", account.undelivered());
    findings.row("duplicates", "messages", account.duplicates());
    findings.require(account.deliversAll());
    return findings.result();
  }

  private Part full(String name, Duration length) {
    Semaphore room = new Semaphore(UNDER_WAY);
    long end = System.nanoTime() + length.toNanos();
    return part(
        name,
        new Journey(room::release),
        () ->
            room.tryAcquire(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS)
                && System.nanoTime() - end < 0);
  }

  /// Separately, because the requests to the API cost the programs time as well.
  private void timelines(double perSecond, String load) {
    try (Timelines timelines = new Timelines(run.target())) {
      evenly(perSecond, new Journey(() -> {}, timelines));
      timelines.finish();
      Histogram micros = timelines.micros();
      String at = " (" + load + ")";
      findings.row("PUBACK to the API's timeline p50" + at, "ms", Part.ms(micros, 50));
      findings.row(
          "PUBACK to the API's timeline p99" + at,
          "ms",
          Part.ms(micros, 99),
          TOLD_WITHIN.toMillis());
      findings.row("PUBACK to the API's timeline, longest" + at, "ms", Part.ms(micros, 100));
      findings.row("timelines looked at" + at, "", micros.getTotalCount());
      findings.none("not told within 30 s" + at, "", timelines.untold());
      findings.require(micros.getTotalCount() > 0);
      findings.require(Part.ms(micros, 99) <= TOLD_WITHIN.toMillis());
    }
  }

  private Part evenly(double perSecond, Journey journey) {
    return part(
        "even",
        journey,
        Traffic.Gate.paced(perSecond, System.nanoTime() + run.measured().toNanos()));
  }

  private Part part(String name, Journey journey, Traffic.Gate gate) {
    ProcessorTime before = bed.processorTime();
    long start = System.nanoTime();
    Traffic traffic = bed.send(name, CLIENTS, journey, gate);
    findings.require(bed.awaitArrivals(ARRIVED_WITHIN));
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
