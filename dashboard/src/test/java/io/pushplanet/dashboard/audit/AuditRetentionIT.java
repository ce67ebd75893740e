package io.pushplanet.dashboard.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dashboard.RunningDashboard;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class AuditRetentionIT {
  private static final int OLD = AuditRetention.MAX_AT_ONCE + 1;

  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void entries_older_than_the_retention_are_deleted() {
    add("old", Duration.ofDays(400).plusMinutes(1), OLD);
    add("young", Duration.ofDays(399), 2);

    dashboard.bean(AuditRetention.class).trim();

    assertThat(
            dashboard
                .sql()
                .queryForList("SELECT detail FROM audit WHERE operator = 'retained'", String.class))
        .containsExactly("young", "young");
  }

  private void add(String detail, Duration age, int entries) {
    Timestamp at = Timestamp.from(Instant.now().minus(age));
    List<Object[]> rows = Collections.nCopies(entries, new Object[] {at, detail});
    dashboard
        .sql()
        .batchUpdate(
            "INSERT INTO audit (at, operator, action, subject, detail) VALUES (?, 'retained', 'login', '', ?)",
            rows);
  }
}
