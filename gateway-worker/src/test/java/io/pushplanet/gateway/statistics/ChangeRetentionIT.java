package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.RealServers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ChangeRetentionIT {
  private final RealServers servers = RealServers.start();
  private final ChangeRetention retention = new ChangeRetention(servers.database());

  @BeforeEach
  void forget_earlier_tests() {
    servers.sql().update("DELETE FROM changes");
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void only_changes_of_more_than_a_week_ago_are_deleted() {
    recorded(2 * ChangeRetention.MAX_ROWS + 1, "old", "169 HOUR");
    recorded(2, "young", "167 HOUR");

    List<Boolean> more = new ArrayList<>();
    do {
      more.add(retention.trim());
    } while (more.getLast());

    assertThat(more).containsExactly(true, true, false);
    assertThat(subjects()).containsExactly("young", "young");
  }

  @Test
  void the_newest_change_is_kept_for_the_feed() {
    recorded(2, "old", "30 DAY");
    recorded(1, "newest", "29 DAY");

    retention.trim();

    assertThat(subjects()).containsExactly("newest");
  }

  @Test
  void it_does_nothing_while_another_worker_does_it() {
    recorded(2, "old", "8 DAY");
    Leader other = new Leader(servers.database(), "change-retention");

    assertThat(other.lead(true, _ -> retention.trim())).isFalse();
    assertThat(subjects()).hasSize(2);

    retention.trim();
    assertThat(subjects()).hasSize(1);
  }

  @Test
  void old_ones_are_found_by_index() {
    recorded(1_000, "young", "1 DAY");
    servers.sql().execute("ANALYZE TABLE changes");

    assertThat(
            servers
                .sql()
                .queryForList(
                    "EXPLAIN FORMAT=TRADITIONAL " + ChangeRetention.DELETE,
                    ChangeRetention.KEPT.toSeconds(),
                    1,
                    ChangeRetention.MAX_ROWS))
        .isNotEmpty()
        .allSatisfy(step -> {
          assertThat(step.get("key")).isEqualTo("changes_by_time");
          assertThat(String.valueOf(step.get("Extra"))).doesNotContain("filesort");
        });
  }

  private void recorded(int number, String subject, String ago) {
    servers
        .sql()
        .batchUpdate(
            """
            INSERT INTO changes (kind, app_id, subject, at)
            VALUES ('app', 'changes-it', ?, UTC_TIMESTAMP(3) - INTERVAL %s)
            """
                .formatted(ago),
            Collections.nCopies(number, new Object[] {subject}));
  }

  private List<String> subjects() {
    return servers.sql().queryForList("SELECT subject FROM changes ORDER BY id", String.class);
  }
}
