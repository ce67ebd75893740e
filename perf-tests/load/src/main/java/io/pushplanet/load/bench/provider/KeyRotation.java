package io.pushplanet.load.bench.provider;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.audit.Acceptances;
import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.provider.BatchTraffic.Shape;
import io.pushplanet.load.bench.provider.WorkerFigures.Moment;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.node.Meters;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/// A certificate gives way to a key at the dashboard, while messages go to APNs: none may fail, and
/// none may be accepted twice. For one thread.
final class KeyRotation {
  private static final String OUTCOMES = "pushplanet_outcomes_total";

  private final Run run;
  private final Findings findings;
  private final Target target;
  private final List<DeviceId> devices;
  private final WorkerFigures worker;
  private final AppleKeys apple;
  private final int perSecond;

  /// @param perSecond messages, in requests of a hundred
  KeyRotation(
      Run run,
      Findings findings,
      Target target,
      List<DeviceId> devices,
      WorkerFigures worker,
      AppleKeys apple,
      int perSecond) {
    this.run = run;
    this.findings = findings;
    this.target = target;
    this.devices = List.copyOf(devices);
    this.worker = worker;
    this.apple = apple;
    this.perSecond = perSecond;
  }

  void measure(Duration warmUp) {
    apple.uploadCertificate();
    run.say("a certificate is active; warming up for %d s", warmUp.toSeconds());
    send(warmUp, () -> {});
    HttpConnection.ask(target.simulatorsUrl(), "DELETE", "/ledger", "", "");

    AppleKeys.Key key = apple.issueKey();
    Meters before = worker.meters();
    long[] upload = new long[1];
    Sent sent =
        send(
            run.measured(),
            () -> {
              LockSupport.parkNanos(run.measured().toNanos() / 2);
              long start = System.nanoTime();
              apple.upload(key);
              upload[0] = System.nanoTime() - start;
              run.say("a key has taken its place after %.1f s", upload[0] / 1e9);
            });
    BatchTraffic traffic = sent.traffic();
    Acceptances apns = Acceptances.of(target.simulatorsUrl());
    double failed =
        worker.meters().sum(OUTCOMES, "channel=\"apns\"", "result=\"failed\"")
            - before.sum(OUTCOMES, "channel=\"apns\"", "result=\"failed\"");

    findings.row("from a certificate to a key: messages accepted", "messages", traffic.accepted());
    findings.row("  accepted", "1/s", traffic.accepted() / sent.seconds(), perSecond);
    findings.none("  requests that were refused", "messages", traffic.refused());
    findings.row("  upload, trial at APNs and activation", "s", upload[0] / 1e9);
    for (String by : List.of("certificate", "token")) {
      long some = apns.byCredential().getOrDefault(by, 0L);
      findings.row("  accepted by APNs with the " + by.replace("token", "key"), "messages", some);
      findings.require(some > 0);
    }
    findings.none("  failed", "messages", failed);
    findings.none("  not at APNs", "messages", Math.abs(traffic.accepted() - apns.notifications()));
    findings.none("  accepted twice by APNs", "messages", apns.again());
  }

  /// @param seconds from the first request to the last answer
  private record Sent(BatchTraffic traffic, double seconds) {}

  /// Sends evenly, and waits until MySQL has all outcomes.
  ///
  /// @param meanwhile runs on a thread of its own
  private Sent send(Duration length, Runnable meanwhile) {
    BatchTraffic traffic = new BatchTraffic(target, devices, Shape.MESSAGES);
    Moment before = worker.now();
    CompletableFuture<Void> beside =
        CompletableFuture.runAsync(meanwhile, Thread::startVirtualThread);
    long start = System.nanoTime();
    traffic.run(
        Traffic.Gate.paced(
            (double) perSecond / Shape.MESSAGES.notifications(),
            System.nanoTime() + length.toNanos()));
    double seconds = (System.nanoTime() - start) / 1e9;
    beside.join();
    worker.awaitRows(before, traffic.accepted());
    return new Sent(traffic, seconds);
  }
}
