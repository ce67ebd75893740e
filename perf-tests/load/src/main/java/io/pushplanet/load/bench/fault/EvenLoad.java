package io.pushplanet.load.bench.fault;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Auditor;
import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.client.AcceptedJournal;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/// Messages at an even rate while faults happen. The run is cut into legs, each with a journal and
/// an account of its own, so that the auditor's memory is bounded in a run of any length.
///
/// The options are `--rate`, messages a second, and `--minutes`, after which no fault is made any
/// more. Thread-safe; one leg at a time.
final class EvenLoad {
  static final Duration QUIET_WITHIN = Duration.ofSeconds(180);

  private static final int MINUTES = 40;
  private static final Duration LONGEST_LEG = Duration.ofMinutes(30);
  private static final Duration ALONE_FIRST = Duration.ofSeconds(1);

  private final Target target;
  private final Path directory;
  private final String runName;
  private final Shape shape;
  private final double perSecond;
  private final long faultsUntilNanos;
  private volatile boolean over;

  /// The messages of all legs.
  ///
  /// @param delivery the JSON of `delivery`
  /// @param rate without the option
  record Shape(List<DeviceId> devices, String delivery, int clients, int rate) {
    Shape {
      devices = List.copyOf(devices);
    }
  }

  /// The faults of a leg.
  interface Faults {
    /// @param traffic that goes on meanwhile
    void happen(Traffic traffic) throws InterruptedException;
  }

  /// A leg that has ended.
  ///
  /// @param recipients of its accepted messages
  /// @param refusals by their answers
  record Leg(
      String name, Path journal, long recipients, Map<String, Long> refusals, double seconds) {
    Leg {
      refusals = new TreeMap<>(refusals);
    }

    AcceptedJournal.Content messages() {
      return AcceptedJournal.read(journal);
    }
  }

  EvenLoad(Run run, OwnPlatform platform, Shape shape) {
    this.target = platform.target();
    this.directory = platform.directory();
    this.runName = run.name();
    this.shape = shape;
    this.perSecond = run.number("rate", shape.rate());
    this.faultsUntilNanos =
        System.nanoTime() + Duration.ofMinutes(run.number("minutes", MINUTES)).toNanos();
  }

  /// Whether more faults may be made. Past the run's time none is made any more; the account of the
  /// earlier ones is made nevertheless.
  boolean mayFail() {
    return !over && System.nanoTime() - faultsUntilNanos < 0;
  }

  /// Ends the time of the faults now.
  void noMoreFaults() {
    over = true;
  }

  /// Sends while the faults happen. Returns when the last request is answered.
  ///
  /// @param name of its journal, unique in the run
  Leg during(String name, Faults faults) {
    try (AcceptedJournal journal = new AcceptedJournal(directory.resolve(name + ".journal"))) {
      Traffic traffic =
          new Traffic(
              target,
              journal,
              runName + "-" + name,
              shape.devices(),
              shape.delivery(),
              (_, _, _) -> {});
      long start = System.nanoTime();
      try (Traffic.Running _ = traffic.runBeside(shape.clients(), perSecond, LONGEST_LEG)) {
        TimeUnit.NANOSECONDS.sleep(ALONE_FIRST.toNanos());
        faults.happen(traffic);
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      return new Leg(name, journal.file(), journal.recipients(), traffic.refusals(), seconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /// The account of a leg, once it is quiet.
  Account audit(Leg leg, Sightings seen) {
    return new Auditor(target).auditWhenQuiet(leg.messages(), Optional.of(seen), QUIET_WITHIN);
  }
}
