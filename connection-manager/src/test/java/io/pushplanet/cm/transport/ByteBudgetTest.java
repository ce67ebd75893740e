package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class ByteBudgetTest {
  private final ByteBudget common = new ByteBudget(100, null);
  private final ByteBudget one = new ByteBudget(10, common);
  private final ByteBudget other = new ByteBudget(10, common);

  @Test
  void a_group_that_takes_the_whole_common_budget_leaves_the_others_their_own() {
    assertThat(one.take(110)).isTrue();

    assertThat(one.take(1)).isFalse();
    assertThat(one.isNearlySpent()).isTrue();
    assertThat(other.isNearlySpent()).isFalse();
    assertThat(other.take(10)).isTrue();
    assertThat(other.take(1)).isFalse();
    assertThat(one.held() + other.held()).isEqualTo(120);
  }

  @Test
  void returned_bytes_are_available_to_all_groups() {
    assertThat(one.take(110)).isTrue();

    one.giveBack(60);

    assertThat(other.take(70)).isTrue();
    assertThat(one.take(1)).isFalse();
  }

  @Test
  void many_at_once_leave_nothing_behind() throws Exception {
    var takers = new ArrayList<Callable<Boolean>>();
    for (int taker = 0; taker < 8; taker++) {
      var budget = taker % 2 == 0 ? one : other;
      var random = new SplittableRandom(taker);
      takers.add(() -> {
        for (int round = 0; round < 20_000; round++) {
          int bytes = 1 + random.nextInt(60);
          if (budget.take(bytes)) {
            budget.giveBack(bytes);
          }
        }
        return true;
      });
    }
    try (var threads = Executors.newFixedThreadPool(4)) {
      for (var done : threads.invokeAll(takers)) {
        assertThat(done.get()).isTrue();
      }
    }

    assertThat(one.held() + other.held()).isZero();
    assertThat(common.held()).isZero();
  }
}
