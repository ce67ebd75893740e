package io.pushplanet.cm.directory;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Whether the directory answered last time. Logs each change once. Thread-safe.
final class DirectoryHealth {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryHealth.class);

  private final DirectoryMetrics metrics;
  private volatile boolean reachable = true;

  DirectoryHealth(DirectoryMetrics metrics, MeterRegistry meters) {
    this.metrics = metrics;
    Gauge.builder("cm.session.directory.reachable", this, it -> it.reachable ? 1 : 0)
        .register(meters);
  }

  boolean isReachable() {
    return reachable;
  }

  void failed(RuntimeException away) {
    metrics.directoryFailures.increment();
    if (reachable) {
      reachable = false;
      LOG.warn("event=directory_away reason=\"{}\"", away.getMessage());
    }
  }

  void answered(int sessions) {
    if (!reachable) {
      reachable = true;
      LOG.info("event=directory_back sessions={}", sessions);
    }
  }
}
