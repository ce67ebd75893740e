package io.pushplanet.load.bench.fault;

import io.pushplanet.load.bench.Run;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.PlatformNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// Each node is killed again and again; at most two are down. For one thread.
final class NodeKills {
  private static final int MAY_BE_DOWN = 2;

  private final Run run;
  private final EvenLoad load;
  private final Nodes nodes;
  private final Random random;
  private final Restarts restarts = new Restarts();

  NodeKills(Run run, EvenLoad load, Nodes nodes, Random random) {
    this.run = run;
    this.load = load;
    this.nodes = nodes;
    this.random = random;
  }

  /// @throws IllegalStateException when a node does not come back
  void happen(int count) throws InterruptedException {
    AtomicInteger left = new AtomicInteger(count);
    Semaphore mayBeDown = new Semaphore(MAY_BE_DOWN);
    List<Future<Void>> dying = new ArrayList<>();
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (PlatformNode node : nodes.all()) {
        dying.add(executor.submit(again(node, left, mayBeDown)));
      }
    }
    for (Future<Void> each : dying) {
      try {
        each.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException(e.getMessage(), e);
      }
    }
  }

  private Callable<Void> again(PlatformNode node, AtomicInteger left, Semaphore mayBeDown) {
    return () -> {
      while (load.mayFail() && left.getAndDecrement() > 0) {
        TimeUnit.MILLISECONDS.sleep(200 + random.nextInt(1_500));
        mayBeDown.acquire();
        try {
          int killed = restarts.kill(node);
          if (killed % 10 == 0) {
            run.say("  %d killed and back", killed);
          }
        } finally {
          mayBeDown.release();
        }
      }
      return null;
    };
  }

  int count() {
    return restarts.count();
  }

  List<Report.Row> rows(int wanted) {
    return List.of(
        Report.Row.of("nodes killed (kill -9) and back", "kills", count(), wanted),
        Report.Row.of("killed to ready p50", "ms", restarts.medianMillis()));
  }
}
