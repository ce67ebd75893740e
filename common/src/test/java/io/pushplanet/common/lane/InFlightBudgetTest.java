package io.pushplanet.common.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class InFlightBudgetTest {
  /// Ten items, and ten bytes for each.
  private final InFlightBudget budget = new InFlightBudget(10, 100);

  @Test
  void an_item_takes_as_many_places_as_its_bytes_need() {
    assertThat(budget.acquire(0)).isEqualTo(1);
    assertThat(budget.acquire(9)).isEqualTo(1);
    assertThat(budget.acquire(10)).isEqualTo(2);
    assertThat(budget.acquire(59)).isEqualTo(6);
  }

  @Test
  void an_item_larger_than_the_budget_takes_all_of_it() {
    assertThat(budget.acquire(Integer.MAX_VALUE)).isEqualTo(10);
  }

  @Test
  void a_budget_of_fewer_bytes_than_items_is_spent_byte_by_byte() {
    var bytes = new InFlightBudget(10, 5);

    assertThat(bytes.acquire(3)).isEqualTo(4);
    assertThat(bytes.acquire(0)).isEqualTo(1);
  }

  @Test
  void half_of_a_lane_is_half_of_its_items_and_of_its_bytes() {
    var half = InFlightBudget.halfOf(lane(20, 200));

    assertThat(half.acquire(59)).isEqualTo(6);
    assertThat(half.acquire(39)).isEqualTo(4);
  }

  @Test
  void a_budget_without_an_item_is_refused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new InFlightBudget(0, 100));
    assertThatIllegalArgumentException().isThrownBy(() -> InFlightBudget.halfOf(lane(1, 100)));
  }

  @Test
  void an_item_waits_until_enough_places_are_free() throws Exception {
    int most = budget.acquire(70);
    int rest = budget.acquire(10);
    var taken = new AtomicInteger();
    Thread waiting = Thread.ofVirtual().start(() -> taken.set(budget.acquire(35)));
    Eventually.within(
        Duration.ofSeconds(10),
        () -> assertThat(waiting.getState()).isEqualTo(Thread.State.WAITING));

    budget.release(rest);
    assertThat(taken).hasValue(0);
    budget.release(most);

    assertThat(waiting.join(Duration.ofSeconds(10))).isTrue();
    assertThat(taken).hasValue(4);
  }

  private static LanePublisher.Settings lane(int mostWaiting, long mostBytes) {
    return new LanePublisher.Settings(
        Duration.ZERO,
        Duration.ZERO,
        1,
        1,
        mostWaiting,
        mostBytes,
        1,
        Duration.ZERO,
        Duration.ZERO);
  }
}
