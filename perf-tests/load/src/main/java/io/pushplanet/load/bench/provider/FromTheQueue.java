package io.pushplanet.load.bench.provider;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.provider.BatchTraffic.Shape;
import io.pushplanet.load.bench.provider.WorkerFigures.Moment;
import io.pushplanet.load.measure.ProcessorTime;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// How many notifications per second go from a full queue to the provider, near or far away, with
/// acknowledgements and events. For one thread.
final class FromTheQueue {
  private static final double RATE_GOAL = 20_000;

  /// The share of a single app: four fifths of `gateway.delivery.max-in-flight`.
  private static final double PLACES = 3_276;

  private static final double SHARE_GOAL = 0.95;

  /// The broker closes a connection that was silent for the heartbeat's ten seconds; the worker
  /// would send again what it had not acknowledged.
  private static final Duration LONGEST_FREEZE = Duration.ofSeconds(8);

  private final Run run;
  private final Findings findings;
  private final Target target;
  private final List<DeviceId> devices;
  private final WorkerFigures worker;
  private final Duration delay;

  /// The figures of a long line while a queue was emptied over it.
  ///
  /// @param rate per second, between the first tenth and the last
  /// @param underWay requests without an answer, at most
  /// @param connections to the provider, at most
  private record LongLine(double rate, double underWay, double connections) {}

  /// @param delay the round trip to the provider; zero: it is near
  FromTheQueue(
      Run run,
      Findings findings,
      Target target,
      List<DeviceId> devices,
      WorkerFigures worker,
      Duration delay) {
    this.run = run;
    this.findings = findings;
    this.target = target;
    this.devices = List.copyOf(devices);
    this.worker = worker;
    this.delay = delay;
  }

  /// Freezes the worker while the queue fills, and then lets it run: it is warm.
  ///
  /// @param time which of several, for the rows
  void measure(Shape shape, String time) {
    Moment before = worker.now();
    long accepted;
    ProcessorTime used;
    long start;
    worker.freeze();
    try {
      accepted = fill(shape);
      used = ProcessorTime.now(target.pids());
      start = System.nanoTime();
    } finally {
      worker.thaw();
    }
    LongLine line = delay.isZero() ? null : watch(before, accepted);
    worker.awaitDelivered(before, accepted);
    double answered = (System.nanoTime() - start) / 1e9;
    worker.awaitAcknowledged();
    double acknowledged = (System.nanoTime() - start) / 1e9;
    worker.awaitRows(before, accepted);
    double told = (System.nanoTime() - start) / 1e9;
    Map<String, Double> micros = ProcessorTime.now(target.pids()).perOperation(used, accepted);
    String with = with(time, line, accepted);
    if (line != null) {
      overALongLine(line, with);
    }
    findings.row("queue to provider's answer" + with, "1/s", accepted / answered);
    findings.row(
        "queue to provider, acknowledged, outcomes confirmed by the broker" + with,
        "1/s",
        Math.round(accepted / acknowledged),
        RATE_GOAL);
    findings.row(
        "queue to provider, acknowledged, and its row in MySQL" + with,
        "1/s",
        Math.round(accepted / told),
        RATE_GOAL);
    findings.row(
        "CPU per notification from the queue: worker" + with,
        "us",
        micros.getOrDefault("gateway-worker", 0.0));
  }

  /// @return how many wait
  private long fill(Shape shape) {
    BatchTraffic traffic = new BatchTraffic(target, devices, shape);
    long nanos = Math.min(run.measured().toNanos(), LONGEST_FREEZE.toNanos());
    traffic.run(Traffic.Gate.until(System.nanoTime() + nanos));
    return traffic.accepted();
  }

  private String with(String time, @Nullable LongLine line, long accepted) {
    return " ("
        + time
        + (line == null ? "" : ", " + delay.toMillis() + " ms away")
        + ", "
        + accepted
        + " waiting)";
  }

  /// Waits until nine tenths are answered.
  private LongLine watch(Moment before, long accepted) {
    double underWay = 0;
    double connections = 0;
    long start = System.nanoTime();
    long begun = 0;
    long begunNanos = start;
    long delivered = 0;
    long now = start;
    while (delivered < accepted * 9 / 10 && now - start < WorkerFigures.DRAINED_WITHIN.toNanos()) {
      LockSupport.parkNanos(WorkerFigures.ASKED_EVERY.toNanos());
      WorkerFigures.Line line = worker.lineSince(before);
      now = System.nanoTime();
      delivered = line.delivered();
      underWay = Math.max(underWay, line.underWay());
      connections = Math.max(connections, line.connections());
      if (begun == 0 && delivered >= accepted / 10) {
        begun = delivered;
        begunNanos = now;
      }
    }
    double seconds = Math.max(1, now - begunNanos) / 1e9;
    return new LongLine((delivered - begun) / seconds, underWay, connections);
  }

  private void overALongLine(LongLine line, String with) {
    findings.row(
        "queue to provider's answer, without the first and the last tenth" + with,
        "1/s",
        Math.round(line.rate()),
        RATE_GOAL);
    findings.row(
        "share of an app's places / round trip" + with,
        "",
        line.rate() * delay.toMillis() / 1e3 / PLACES,
        SHARE_GOAL);
    findings.row("requests under way at most" + with, "", line.underWay());
    findings.row("connections" + with, "", line.connections());
  }
}
