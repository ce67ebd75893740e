package io.pushplanet.cm.simulator;

import io.pushplanet.cm.transport.EventLoop;
import io.pushplanet.cm.transport.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// A node's event loop in virtual time. It runs one task after the other; where the real order
/// depends on the kernel, the seed decides. The loop of a frozen node runs no task.
final class SimLoop implements Loop {
  private static final int STEPS_PER_TURN = 16;
  private static final double LAGS = 0.01;
  private static final int LAG_MILLIS = 500;

  private final World world;
  private final SimNode node;
  private final int number;
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private final List<SimLink> links = new ArrayList<>();
  private long turnNanos;
  private boolean scheduled;
  private boolean busy;
  private boolean sweepDue;
  private long sweeps;

  SimLoop(World world, SimNode node) {
    this.world = world;
    this.node = node;
    this.number = world.below(1 << 20);
    this.turnNanos = world.nowNanos();
    sweepLater();
  }

  /// Not by identity, so that maps of loops have the same order when a life is repeated.
  @Override
  public int hashCode() {
    return number;
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
    wake();
  }

  @Override
  public void executeAfter(Duration wait, Runnable task) {
    long millis = wait.toMillis();
    world.after(millis, millis + 2, () -> execute(task));
  }

  @Override
  public long nowNanos() {
    return turnNanos;
  }

  void add(SimLink link) {
    links.add(link);
  }

  void remove(SimLink link) {
    links.remove(link);
  }

  /// The process is gone, and its sockets with it.
  void breakAll() {
    links.forEach(SimLink::broken);
    links.clear();
  }

  void wake() {
    if (!scheduled && node.alive) {
      scheduled = true;
      world.after(0, world.chance(LAGS) ? LAG_MILLIS : 2, this::turn);
    }
  }

  private void sweepLater() {
    world.after(
        1_000,
        1_000,
        () -> {
          if (node.alive) {
            sweepDue = true;
            wake();
            sweepLater();
          }
        });
  }

  private void turn() {
    scheduled = false;
    if (!node.alive || node.frozen) {
      return;
    }
    if (busy) {
      wake();
      return;
    }
    busy = true;
    try {
      long gap = world.nowNanos() - turnNanos;
      turnNanos =
          gap > EventLoop.STANDSTILL.toNanos()
              ? node.stoodStill(this, Duration.ofNanos(gap))
              : world.nowNanos();
      for (int step = 0; step < STEPS_PER_TURN && stepOnce(); step++) {}
      if (sweepDue) {
        sweepDue = false;
        boolean all = ++sweeps % EventLoop.IDLE_SWEEP.toSeconds() == 0;
        List.copyOf(links).forEach(link -> link.sweep(turnNanos, all));
      }
    } finally {
      busy = false;
    }
    if (!tasks.isEmpty() || links.stream().anyMatch(SimLink::hasInput)) {
      wake();
    }
  }

  private boolean stepOnce() {
    var ready = links.stream().filter(SimLink::hasInput).toList();
    int choices = ready.size() + (tasks.isEmpty() ? 0 : 1);
    if (choices == 0) {
      return false;
    }
    int choice = world.below(choices);
    if (choice < ready.size()) {
      ready.get(choice).readOne();
    } else {
      tasks.remove().run();
    }
    return true;
  }
}
