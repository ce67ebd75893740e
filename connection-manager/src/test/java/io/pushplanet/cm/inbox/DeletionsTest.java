package io.pushplanet.cm.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Rows that cannot be deleted, with a deleting thread that is run by hand.
class DeletionsTest {
  private static final MessageId MESSAGE = new MessageId("0190b8a0-0000-7000-8000-000000000001");

  private final Set<String> held = new HashSet<>();
  private final Queue<SQLException> failures = new ArrayDeque<>();
  private final List<List<String>> tried = new ArrayList<>();
  private final List<String> deleted = new ArrayList<>();
  private final List<Boolean> reachable = new ArrayList<>();
  private final List<String> told = new ArrayList<>();
  private final DatabaseHealth health = new DatabaseHealth();
  private long nowNanos;
  private final Deletions deletions =
      new Deletions(1_000, this::delete, health, () -> nowNanos, new SimpleMeterRegistry());

  @Test
  void rows_that_arrive_together_are_deleted_together() throws Exception {
    add("a", "b", "c");

    deletions.turn();

    assertThat(tried).containsExactly(List.of("a", "b", "c"));
    assertThat(told).containsExactly("a", "b", "c");
  }

  @Test
  void a_row_that_is_held_is_tried_alone_and_the_others_go_on() throws Exception {
    held.add("b");
    add("a", "b", "c");
    turns(3);
    assertThat(deleted).containsExactly("a");

    add("d", "e");
    turns(1);
    assertThat(deleted).as("nothing is tried alone for a while").containsExactly("a", "d", "e");

    later();
    turns(2);
    assertThat(deleted).containsExactly("a", "d", "e", "c");
    assertThat(reachable).as("MySQL answers").doesNotContain(false);
    held.clear();
    later();
    turns(1);
    assertThat(told).containsExactly("a", "d", "e", "c", "b");
    assertThat(deletions.size()).isZero();
  }

  @Test
  void while_mysql_is_away_what_came_together_stays_together() throws Exception {
    failures.add(new SQLException("for the test", "08S01"));
    add("a", "b");

    deletions.turn();

    assertThat(tried).containsExactly(List.of("a", "b"), List.of("a", "b"));
    assertThat(reachable).as("before each try").containsExactly(true, false);
    assertThat(health.isReachable()).isTrue();
    assertThat(told).containsExactly("a", "b");
  }

  @Test
  void a_deadlock_is_tried_again_at_once() throws Exception {
    failures.add(new SQLException("for the test", "40001"));
    add("a", "b");

    deletions.turn();

    assertThat(tried).containsExactly(List.of("a", "b"), List.of("a", "b"));
    assertThat(reachable).as("before each try").containsExactly(true, true);
    assertThat(health.isReachable()).isTrue();
  }

  private void delete(List<InboxRow> rows) throws SQLException {
    var slots = rows.stream().map(InboxRow::slot).toList();
    tried.add(slots);
    reachable.add(health.isReachable());
    var failure = failures.poll();
    if (failure != null) {
      throw failure;
    }
    if (slots.stream().anyMatch(held::contains)) {
      throw new SQLTimeoutException("for the test");
    }
    deleted.addAll(slots);
  }

  private void add(String... slots) {
    for (var slot : slots) {
      var device = new DeviceKey(new AppId("shop"), new DeviceId("d1"));
      deletions.add(
          new InboxRow(device, slot, MESSAGE, Binary.EMPTY, Long.MAX_VALUE), _ -> told.add(slot));
    }
  }

  private void turns(int count) throws InterruptedException {
    for (int turn = 0; turn < count; turn++) {
      deletions.turn();
    }
  }

  private void later() {
    nowNanos += Deletions.ALONE_AFTER.toNanos();
  }
}
