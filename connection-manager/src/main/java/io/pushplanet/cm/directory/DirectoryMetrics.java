package io.pushplanet.cm.directory;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

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
  final Timer takeover;

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
            .description("From another node's claim of a device until this node let go of it")
            .publishPercentiles(0.5, 0.99)
            .publishPercentileHistogram()
            .register(meters);
  }
}
