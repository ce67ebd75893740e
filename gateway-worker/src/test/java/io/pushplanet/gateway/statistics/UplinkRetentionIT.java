package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.RealServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UplinkRetentionIT {
  private final RealServers servers = RealServers.start();
  private final UplinkRetention retention =
      new UplinkRetention(servers.database(), Duration.ofDays(30));

  @BeforeEach
  void forget_earlier_tests() {
    servers.sql().update("DELETE FROM uplinks");
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void only_uplinks_older_than_the_retention_are_deleted() {
    published(2 * UplinkRetention.MAX_ROWS + 1, "31 DAY");
    published(2, "29 DAY");

    List<Boolean> more = new ArrayList<>();
    do {
      more.add(retention.trim());
    } while (more.getLast());

    assertThat(more).containsExactly(true, true, false);
    assertThat(count()).isEqualTo(2);
  }

  @Test
  void it_does_nothing_while_another_worker_does_it() {
    published(1, "31 DAY");
    Leader other = new Leader(servers.database(), "uplink-retention");

    assertThat(other.lead(true, _ -> retention.trim())).isFalse();
    assertThat(count()).isOne();

    retention.trim();
    assertThat(count()).isZero();
  }

  @Test
  void old_ones_are_found_by_index() {
    published(1_000, "1 DAY");
    servers.sql().execute("ANALYZE TABLE uplinks");

    assertThat(
            servers
                .sql()
                .queryForList(
                    "EXPLAIN FORMAT=TRADITIONAL " + UplinkRetention.DELETE,
                    Duration.ofDays(30).toSeconds(),
                    UplinkRetention.MAX_ROWS))
        .isNotEmpty()
        .allSatisfy(step -> {
          assertThat(step.get("key")).isEqualTo("uplinks_by_time");
          assertThat(String.valueOf(step.get("Extra"))).doesNotContain("filesort");
        });
  }

  private void published(int number, String ago) {
    List<Object[]> rows = new ArrayList<>();
    for (int count = 0; count < number; count++) {
      rows.add(new Object[] {UUID.randomUUID().toString()});
    }
    servers
        .sql()
        .batchUpdate(
            """
            INSERT INTO uplinks (event_id, app_id, device_id, at, payload)
            VALUES (?, 'uplinks-it', 'd1', UTC_TIMESTAMP(3) - INTERVAL %s, '')
            """
                .formatted(ago),
            rows);
  }

  private long count() {
    Long count = servers.sql().queryForObject("SELECT COUNT(*) FROM uplinks", Long.class);
    return count == null ? 0 : count;
  }
}
