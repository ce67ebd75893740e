package io.pushplanet.dashboard.audit;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.dashboard.DashboardSettings;
import jakarta.annotation.PreDestroy;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/// Deletes entries of the audit log that are older than `dashboard.audit-retention`, a few rows at
/// a time. When there are several dashboards, each of them does this; an entry that one has
/// deleted, another no longer finds.
@Component
final class AuditRetention {
  static final int MAX_AT_ONCE = 1_000;

  private static final Logger LOG = LoggerFactory.getLogger(AuditRetention.class);
  private static final Duration EVERY = Duration.ofHours(1);

  private final AuditMapper rows;
  private final Duration retention;
  private final Clock clock;
  private final Counter failed;
  private final ScheduledExecutorService rounds =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("audit-retention").daemon(true).factory());

  AuditRetention(AuditMapper rows, DashboardSettings settings, Clock clock, MeterRegistry meters) {
    this.rows = rows;
    this.retention = settings.auditRetention();
    this.clock = clock;
    this.failed =
        Counter.builder("dashboard.audit.retention.failed")
            .description("times that old entries of the audit log could not be deleted")
            .register(meters);
  }

  @EventListener(ApplicationReadyEvent.class)
  void begin() {
    var _ = rounds.scheduleWithFixedDelay(this::round, 0, EVERY.toMillis(), TimeUnit.MILLISECONDS);
  }

  @PreDestroy
  void end() {
    rounds.shutdownNow();
  }

  /// An exception would end all later rounds.
  private void round() {
    try {
      trim();
    } catch (Throwable e) {
      failed.increment();
      LOG.warn("event=audit_not_trimmed reason=\"{}\"", e.toString());
    }
  }

  void trim() {
    Instant before = clock.instant().minus(retention);
    int deleted = MAX_AT_ONCE;
    while (deleted == MAX_AT_ONCE && !rounds.isShutdown()) {
      deleted = rows.deleteBefore(before, MAX_AT_ONCE);
    }
  }
}
