package io.pushplanet.load.bench.provider;

import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.node.Meters;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Jvm;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// How far the worker is with one channel's notifications, from its meters and from MySQL. Meters
/// may be read by several threads; MySQL by one.
final class WorkerFigures {
  /// A request for the worker's figures costs it some 4 ms, which count.
  static final Duration ASKED_EVERY = Duration.ofMillis(200);

  static final Duration DRAINED_WITHIN = Duration.ofSeconds(120);

  private static final String UNDER_WAY = "pushplanet_provider_in_flight";
  private static final String CONNECTIONS = "pushplanet_provider_pool_connections";
  private static final String OUTCOMES = "pushplanet_outcomes_total";
  private static final String WHOLE_WAY = "pushplanet_accept_to_outcome_seconds";
  private static final String IN_HAND = "pushplanet_intake_in_hand";

  private final String channel;
  private final ChildProcess worker;
  private final int workerPort;
  private final Connection mysql;
  private long lost;

  /// What was delivered at one moment.
  ///
  /// @param rows in MySQL
  record Moment(Meters meters, long rows) {}

  /// The line to the provider at one moment.
  ///
  /// @param underWay requests without an answer
  record Line(long delivered, double underWay, double connections) {}

  WorkerFigures(String channel, OwnPlatform platform, Connection mysql) {
    this.channel = channel;
    this.worker = platform.platform().process(Program.WORKER);
    this.workerPort = platform.workerPort();
    this.mysql = mysql;
  }

  Moment now() {
    return new Moment(meters(), rows());
  }

  /// All of the worker's meters.
  Meters meters() {
    return Meters.of(workerPort);
  }

  /// How many were delivered since then.
  long deliveredSince(Moment then) {
    return deliveredSince(then, Meters.of(workerPort, OUTCOMES));
  }

  Line lineSince(Moment then) {
    Meters meters = Meters.of(workerPort, OUTCOMES, UNDER_WAY, CONNECTIONS);
    return new Line(
        deliveredSince(then, meters),
        meters.sum(UNDER_WAY, "push." + channel),
        meters.sum(CONNECTIONS, "channel=\"" + channel));
  }

  private long deliveredSince(Moment then, Meters meters) {
    return Math.round(delivered(meters) - delivered(then.meters()));
  }

  private double delivered(Meters meters) {
    return meters.sum(OUTCOMES, "channel=\"" + channel + "\"", "result=\"delivered\"");
  }

  /// Milliseconds from the accept to the provider's answer, of this share, between two moments.
  double wholeWayMillis(Meters before, Meters after, double share) {
    return 1_000 * after.quantileSince(before, share, WHOLE_WAY, "channel=\"" + channel);
  }

  /// Waits until the provider has answered all.
  void awaitDelivered(Moment before, long accepted) {
    long start = System.nanoTime();
    while (deliveredSince(before) < accepted
        && System.nanoTime() - start < DRAINED_WITHIN.toNanos()) {
      LockSupport.parkNanos(ASKED_EVERY.toNanos());
    }
  }

  /// Waits until the lanes' messages are acknowledged, each after the broker has confirmed its
  /// outcomes.
  void awaitAcknowledged() {
    long deadline = System.nanoTime() + DRAINED_WITHIN.toNanos();
    while (Meters.of(workerPort, IN_HAND).sum(IN_HAND, "consumer=\"deliver-") > 0
        && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(ASKED_EVERY.toNanos());
    }
  }

  /// Waits until all are delivered and MySQL has their rows: the minutes are written in the same
  /// transaction.
  void awaitRows(Moment before, long accepted) {
    awaitDelivered(before, accepted);
    long deadline = System.nanoTime() + DRAINED_WITHIN.toNanos();
    while (rows() - before.rows() < accepted && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
    lost +=
        Math.max(
            Math.abs(accepted - deliveredSince(before)),
            Math.abs(accepted - (rows() - before.rows())));
  }

  /// How many were delivered or told too few or too often, over all waits.
  long lost() {
    return lost;
  }

  private long rows() {
    try (PreparedStatement query =
        mysql.prepareStatement(
            "SELECT SUM(count) FROM statistics_minutes WHERE channel = ? AND outcome = 'delivered'")) {
      query.setString(1, channel);
      try (ResultSet sum = query.executeQuery()) {
        return sum.next() ? sum.getLong(1) : 0;
      }
    } catch (SQLException e) {
      throw new IllegalStateException("cannot read what MySQL was told: " + e.getMessage(), e);
    }
  }

  /// The worker's garbage so far.
  long allocatedBytes() {
    try (Jvm jvm = Jvm.attach(worker.pid())) {
      return jvm.allocatedBytes();
    }
  }

  /// Stops the worker: its sockets stay open.
  void freeze() {
    worker.freeze();
  }

  void thaw() {
    worker.thaw();
  }
}
