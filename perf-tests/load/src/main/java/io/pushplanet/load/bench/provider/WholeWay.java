package io.pushplanet.load.bench.provider;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.provider.BatchTraffic.Shape;
import io.pushplanet.load.bench.provider.WorkerFigures.Moment;
import io.pushplanet.load.measure.ProcessorTime;
import io.pushplanet.load.node.Meters;
import io.pushplanet.load.scenario.Target;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// The cost of a notification from its accept to the provider's answer and its row in MySQL, while
/// no queue builds up. For one thread.
final class WholeWay {
  /// The number in flight, small enough that no queue builds up.
  private static final int UNDER_WAY = 4_000;

  private final Run run;
  private final Findings findings;
  private final Target target;
  private final List<DeviceId> devices;
  private final WorkerFigures worker;

  WholeWay(
      Run run, Findings findings, Target target, List<DeviceId> devices, WorkerFigures worker) {
    this.run = run;
    this.findings = findings;
    this.target = target;
    this.devices = List.copyOf(devices);
    this.worker = worker;
  }

  /// @param goal microseconds of the dispatcher and the worker for each
  void measure(Shape shape, double goal) {
    run.out().println(shape.words() + ", for " + run.measured().toSeconds() + " s");
    Meters before = worker.meters();
    long allocatedBefore = worker.allocatedBytes();
    ProcessorTime used = ProcessorTime.now(target.pids());
    long start = System.nanoTime();
    long accepted = send(shape, run.measured());
    double seconds = (System.nanoTime() - start) / 1e9;
    ProcessorTime usedAfter = ProcessorTime.now(target.pids());
    Map<String, Double> micros = usedAfter.perOperation(used, accepted);
    Meters after = worker.meters();
    String with = " (" + shape.words() + ")";
    findings.row("accepted and answered" + with, "1/s", accepted / seconds);
    double ours =
        micros.getOrDefault("dispatcher-api", 0.0) + micros.getOrDefault("gateway-worker", 0.0);
    findings.row("CPU per notification, dispatcher and worker" + with, "us", ours, goal);
    // Without the provider's own time, which belongs to the bench, like the load.
    micros.forEach((program, each) -> {
      if (!program.equals("load") && !program.equals("simulators")) {
        findings.row("CPU per notification: " + program + with, "us", each);
      }
    });
    // Much compiler time means that the programs were not warm: then a message costs several times
    // as much.
    findings.row(
        "compilers meanwhile" + with,
        "processors",
        usedAfter.compilers().minus(used.compilers()).toNanos() / 1e9 / seconds);
    findings.row(
        "worker's garbage per notification" + with,
        "bytes",
        (double) (worker.allocatedBytes() - allocatedBefore) / Math.max(1, accepted));
    for (double share : new double[] {0.5, 0.99}) {
      findings.row(
          "accept to answer p" + Math.round(share * 100) + with,
          "ms",
          worker.wholeWayMillis(before, after, share));
    }
  }

  /// Sends with a bounded number of messages in flight, and waits for the last.
  ///
  /// @return how many were accepted
  long send(Shape shape, Duration length) {
    BatchTraffic traffic = new BatchTraffic(target, devices, shape);
    Moment before = worker.now();
    AtomicLong delivered = new AtomicLong();
    AtomicLong asked = new AtomicLong();
    long end = System.nanoTime() + length.toNanos();
    CountDownLatch over = new CountDownLatch(1);
    Thread watch =
        Thread.ofVirtual()
            .start(() -> {
              do {
                // The first look comes when half of the messages in flight could be done: each
                // costs
                // the worker some time.
                if (asked.get() - delivered.get() >= UNDER_WAY / 2) {
                  delivered.set(worker.deliveredSince(before));
                }
              } while (!endsWithin(over, WorkerFigures.ASKED_EVERY));
            });
    traffic.run(() -> {
      while (System.nanoTime() - end < 0) {
        if (asked.get() - delivered.get() < UNDER_WAY) {
          asked.addAndGet(shape.notifications());
          return true;
        }
        TimeUnit.MILLISECONDS.sleep(5);
      }
      return false;
    });
    over.countDown();
    worker.awaitRows(before, traffic.accepted());
    join(watch);
    if (traffic.refused() > 0) {
      run.out().println("not accepted: " + traffic.refused());
    }
    return traffic.accepted();
  }

  private static boolean endsWithin(CountDownLatch over, Duration wait) {
    try {
      return over.await(wait.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  private static void join(Thread watch) {
    try {
      watch.join(Duration.ofSeconds(30));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
