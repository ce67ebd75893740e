package io.pushplanet.cm.directory;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;

/// Meters of the exchange with the directory. Thread-safe.
final class DirectoryMetrics {
  final Counter directoryFailures;
  final Counter commandsUnsent;
  final Counter reannounced;
  final Counter takeovers;
  final Counter takeoversUnanswered;
  final Counter doubted;
  final Counter standstills;
  final Counter registrationsRefused;
  final DistributionSummary registrations;
  private final Timer takeover;
  private final Clock clock;

  DirectoryMetrics(MeterRegistry meters) {
    directoryFailures = meters.counter("cm.session.directory.failures");
    commandsUnsent = meters.counter("cm.session.commands.unsent");
    reannounced = meters.counter("cm.session.reannounced");
    takeovers = meters.counter("cm.session.takeovers");
    takeoversUnanswered = meters.counter("cm.session.takeovers.unanswered");
    doubted = meters.counter("cm.session.doubted");
    standstills = meters.counter("cm.session.standstills");
    registrationsRefused = meters.counter("cm.session.registrations.refused");
    registrations =
        DistributionSummary.builder("cm.session.registrations")
            .description("Connects and disconnects that shared one round trip to the directory")
            .register(meters);
    takeover =
        Timer.builder("cm.session.takeover")
            .description(
                "On the new node: from Redis' answer to its claim of a device until the former node has released the"
                    + " device, or `cm.directory.former-within` has passed. A former node without a connection to"
                    + " Redis is not waited for, and not counted")
            .publishPercentiles(0.5, 0.99)
            .publishPercentileHistogram()
            .register(meters);
    clock = meters.config().clock();
  }

  /// For [#takenOver]; from an arbitrary origin.
  long nowNanos() {
    return clock.monotonicTime();
  }

  /// A claim that waited for the former owner goes on.
  ///
  /// @param answeredNanos when the directory answered the claim, by [#nowNanos]
  void takenOver(long answeredNanos) {
    takeover.record(nowNanos() - answeredNanos, TimeUnit.NANOSECONDS);
  }
}
