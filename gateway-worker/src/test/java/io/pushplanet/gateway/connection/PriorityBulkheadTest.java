package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class PriorityBulkheadTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  void a_tenth_of_the_permits_is_kept_for_high_priority() throws Exception {
    PriorityBulkhead bulkhead = new PriorityBulkhead(20);
    for (int i = 0; i < 18; i++) {
      assertThat(bulkhead.acquire(Priority.NORMAL, Duration.ZERO)).isTrue();
    }

    assertThat(bulkhead.acquire(Priority.NORMAL, Duration.ZERO)).isFalse();
    assertThat(bulkhead.acquire(Priority.HIGH, Duration.ZERO)).isTrue();
    assertThat(bulkhead.acquire(Priority.HIGH, Duration.ZERO)).isTrue();
    assertThat(bulkhead.acquire(Priority.HIGH, Duration.ZERO)).isFalse();
    bulkhead.release();
    assertThat(bulkhead.acquire(Priority.NORMAL, Duration.ZERO)).isFalse();
    assertThat(bulkhead.acquire(Priority.HIGH, Duration.ZERO)).isTrue();
  }

  @Test
  void pushy_139_pushy_407_node_apn_191_no_more_get_in_than_there_are_permits() throws Exception {
    PriorityBulkhead bulkhead = new PriorityBulkhead(10);

    int entered = 0;
    for (int i = 0; i < 10_000; i++) {
      entered += bulkhead.acquire(Priority.HIGH, Duration.ZERO) ? 1 : 0;
    }

    assertThat(entered).isEqualTo(10);
    assertThat(bulkhead.waiting()).isZero();
  }

  @Test
  void a_free_permit_goes_to_high_priority_however_long_others_wait() throws Exception {
    PriorityBulkhead bulkhead = new PriorityBulkhead(1);
    List<Priority> entered = new CopyOnWriteArrayList<>();
    assertThat(bulkhead.acquire(Priority.NORMAL, Duration.ZERO)).isTrue();

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 3; i++) {
        threads.submit(() -> pass(bulkhead, Priority.NORMAL, entered));
      }
      Eventually.within(PATIENCE, () -> assertThat(bulkhead.waiting()).isEqualTo(3));
      threads.submit(() -> pass(bulkhead, Priority.HIGH, entered));
      Eventually.within(PATIENCE, () -> assertThat(bulkhead.waiting()).isEqualTo(4));
      bulkhead.release();
    }

    assertThat(entered)
        .containsExactly(Priority.HIGH, Priority.NORMAL, Priority.NORMAL, Priority.NORMAL);
  }

  @Test
  void a_free_permit_goes_to_the_waiting_request_and_not_to_a_new_one() throws Exception {
    PriorityBulkhead bulkhead = new PriorityBulkhead(1);
    assertThat(bulkhead.acquire(Priority.NORMAL, Duration.ZERO)).isTrue();

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Boolean> waits = threads.submit(() -> bulkhead.acquire(Priority.NORMAL, PATIENCE));
      Eventually.within(PATIENCE, () -> assertThat(bulkhead.waiting()).isOne());
      bulkhead.release();

      assertThat(bulkhead.acquire(Priority.NORMAL, Duration.ZERO)).isFalse();
      assertThat(bulkhead.acquire(Priority.HIGH, Duration.ZERO)).isFalse();
      assertThat(waits.get()).isTrue();
    }
  }

  @Test
  void normal_requests_go_on_when_a_high_one_gives_up() throws Exception {
    PriorityBulkhead bulkhead = new PriorityBulkhead(10);
    for (int i = 0; i < 9; i++) {
      assertThat(bulkhead.acquire(Priority.NORMAL, Duration.ZERO)).isTrue();
    }
    assertThat(bulkhead.acquire(Priority.HIGH, Duration.ZERO)).isTrue();

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Boolean> high =
          threads.submit(() -> bulkhead.acquire(Priority.HIGH, Duration.ofMillis(200)));
      Future<Boolean> normal = threads.submit(() -> bulkhead.acquire(Priority.NORMAL, PATIENCE));
      Eventually.within(PATIENCE, () -> assertThat(bulkhead.waiting()).isEqualTo(2));
      assertThat(high.get()).isFalse();
      bulkhead.release();
      bulkhead.release();

      assertThat(normal.get()).isTrue();
    }
  }

  private static boolean pass(PriorityBulkhead bulkhead, Priority priority, List<Priority> entered)
      throws InterruptedException {
    boolean inside = bulkhead.acquire(priority, PATIENCE);
    if (inside) {
      entered.add(priority);
      bulkhead.release();
    }
    return inside;
  }
}
