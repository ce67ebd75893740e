package io.pushplanet.load.bench.fault;

import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.Meters;
import io.pushplanet.load.node.PlatformProcess;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/// Workers that are killed one after the other, and the messages that were unacknowledged then. For
/// one thread.
final class WorkerKills {
  private static final String REDELIVERED = "pushplanet_redelivered_total";

  private final EvenLoad load;
  private final List<PlatformProcess> workers;
  private final Random random;
  private final Restarts restarts = new Restarts();
  private long unansweredBefore;

  WorkerKills(EvenLoad load, List<PlatformProcess> workers, Random random) {
    this.load = load;
    this.workers = List.copyOf(workers);
    this.random = random;
  }

  void happen(int count) throws InterruptedException {
    for (int i = 0; i < count && load.mayFail(); i++) {
      TimeUnit.MILLISECONDS.sleep(500 + random.nextInt(1_500));
      PlatformProcess worker = workers.get(count() % workers.size());
      // Its share of other workers' leftovers is lost with it.
      unansweredBefore += Math.round(redelivered(worker));
      restarts.kill(worker);
    }
  }

  int count() {
    return restarts.count();
  }

  /// The messages of killed workers so far, as far as other workers have got them.
  double unanswered() {
    return unansweredBefore + workers.stream().mapToDouble(WorkerKills::redelivered).sum();
  }

  private static double redelivered(PlatformProcess worker) {
    return Meters.of(worker.managementPort(), REDELIVERED).sum(REDELIVERED);
  }

  List<Report.Row> rows(int wanted) {
    return List.of(
        Report.Row.of("workers killed (kill -9)", "kills", count(), wanted),
        Report.Row.of("killed to ready p50", "ms", restarts.medianMillis()));
  }
}
