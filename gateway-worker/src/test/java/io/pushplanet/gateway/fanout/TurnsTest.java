package io.pushplanet.gateway.fanout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private static final AppId SHOP = new AppId("shop");
  private static final AppId BANK = new AppId("bank");
  private static final AppId NEWS = new AppId("news");
  private static final Passage LANE = new Passage.Lane("push.apns.normal");
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final AtomicLong nanos = new AtomicLong();
  private final Turns turns = new Turns(1, nanos::get);

  /// Who got a turn, in this order.
  private final BlockingQueue<AppId> had = new LinkedBlockingQueue<>();

  @Test
  void so_many_steps_go_on_side_by_side() throws Exception {
    Turns two = new Turns(2, nanos::get);

    assertThat(two.acquire(SHOP, Duration.ZERO)).isTrue();
    assertThat(two.acquire(SHOP, Duration.ZERO)).isTrue();
    assertThat(two.acquire(BANK, Duration.ZERO)).isFalse();

    two.release(SHOP, Set.of());
    assertThat(two.acquire(BANK, Duration.ZERO)).isTrue();
  }

  @Test
  void an_app_with_many_orders_and_apps_with_one_take_turns() throws Exception {
    assertThat(turns.acquire(SHOP, Duration.ZERO)).isTrue();
    waiting(SHOP, 200);
    waiting(BANK, 1);
    waiting(NEWS, 1);

    List<AppId> first = releaseEach(SHOP, 5);

    assertThat(first).containsExactly(SHOP, BANK, NEWS, SHOP, SHOP);
  }

  @Test
  void apps_with_many_orders_each_take_turns() throws Exception {
    assertThat(turns.acquire(SHOP, Duration.ZERO)).isTrue();
    waiting(SHOP, 3);
    waiting(BANK, 3);

    assertThat(releaseEach(SHOP, 6)).containsExactly(SHOP, BANK, SHOP, BANK, SHOP, BANK);
  }

  @Test
  void an_app_has_no_turn_while_a_lane_that_it_filled_is_full() throws Exception {
    stepOf(SHOP, LANE);
    turns.looked(Set.of(LANE), Set.of(LANE));

    assertThat(turns.acquire(SHOP, Duration.ZERO)).isFalse();
    assertThat(turns.acquire(BANK, Duration.ZERO)).isTrue();
    turns.release(BANK, Set.of(new Passage.Lane("push.fcm.normal")));
    assertThat(turns.acquire(BANK, Duration.ZERO)).isTrue();
    turns.release(BANK, Set.of());
    assertThat(turns.awaited()).as("nothing waits for it").isEmpty();

    waiting(SHOP, 1);
    assertThat(turns.awaited()).containsExactly(LANE);
    turns.looked(Set.of(LANE), Set.of(LANE));
    assertThat(turns.waiting()).isOne();
    turns.looked(Set.of(LANE), Set.of());

    assertThat(next()).isEqualTo(SHOP);
    assertThat(turns.awaited()).isEmpty();
  }

  @Test
  void an_apps_full_quota_keeps_no_other_app_back() throws Exception {
    String lane = "push.fcm.normal";
    Passage.Quota full = new Passage.Quota(SHOP, lane);
    stepOf(SHOP, full);
    stepOf(BANK, new Passage.Quota(BANK, lane));
    turns.looked(Set.of(full), Set.of(full));

    assertThat(turns.acquire(SHOP, Duration.ZERO)).isFalse();
    assertThat(turns.acquire(BANK, Duration.ZERO)).isTrue();
  }

  @Test
  void an_app_whose_last_step_began_long_ago_has_a_turn_although_the_lane_is_full()
      throws Exception {
    stepOf(SHOP, LANE);
    turns.looked(Set.of(LANE), Set.of(LANE));
    waiting(SHOP, 2);
    nanos.addAndGet(Turns.PATIENCE.toNanos());
    turns.looked(Set.of(), Set.of());
    assertThat(turns.waiting()).isEqualTo(2);

    nanos.incrementAndGet();
    turns.looked(Set.of(), Set.of());

    assertThat(next()).isEqualTo(SHOP);
    turns.release(SHOP, Set.of(LANE));
    turns.looked(Set.of(), Set.of());
    assertThat(turns.waiting()).as("one step, not one after the other").isOne();
  }

  @Test
  void an_order_without_a_turn_in_time_is_refused_and_waits_no_longer() throws Exception {
    assertThat(turns.acquire(SHOP, Duration.ZERO)).isTrue();

    assertThat(turns.acquire(BANK, Duration.ofMillis(1))).isFalse();
    assertThat(turns.acquire(BANK, Duration.ofNanos(-1))).isFalse();

    assertThat(turns.waiting()).isZero();
  }

  @Test
  void an_interrupted_order_leaves_its_turn_to_others() throws Exception {
    assertThat(turns.acquire(SHOP, Duration.ZERO)).isTrue();
    CompletableFuture<Throwable> ended = new CompletableFuture<>();
    Thread waiter =
        Thread.ofVirtual()
            .start(() -> {
              try {
                turns.acquire(BANK, PATIENCE);
              } catch (InterruptedException e) {
                ended.complete(e);
              }
            });
    Eventually.within(PATIENCE, () -> assertThat(turns.waiting()).isOne());

    waiter.interrupt();

    assertThat(ended.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isNotNull();
    turns.release(SHOP, Set.of());
    assertThat(turns.acquire(NEWS, Duration.ZERO)).isTrue();
  }

  @Test
  void a_stop_ends_all_waits() throws Exception {
    assertThat(turns.acquire(SHOP, Duration.ZERO)).isTrue();
    CompletableFuture<Throwable> ended = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            turns.acquire(BANK, PATIENCE);
          } catch (IllegalStateException | InterruptedException e) {
            ended.complete(e);
          }
        });
    Eventually.within(PATIENCE, () -> assertThat(turns.waiting()).isOne());

    turns.stop();

    assertThat(ended.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .isInstanceOf(IllegalStateException.class);
    turns.release(SHOP, Set.of());
    assertThatThrownBy(() -> turns.acquire(SHOP, PATIENCE))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void an_idle_app_is_forgotten_when_its_last_step_is_long_ago() throws Exception {
    stepOf(SHOP, LANE);
    stepOf(BANK, LANE);
    turns.looked(Set.of(), Set.of());
    assertThat(turns.known()).containsExactlyInAnyOrder(SHOP, BANK);
    nanos.addAndGet(Turns.PATIENCE.toNanos());
    assertThat(turns.acquire(BANK, Duration.ZERO)).isTrue();
    nanos.incrementAndGet();

    turns.looked(Set.of(), Set.of());

    assertThat(turns.known()).as("with a step under way").containsExactly(BANK);
  }

  @Test
  void a_turn_that_nobody_has_cannot_be_given_back() {
    assertThatThrownBy(() -> turns.release(SHOP, Set.of()))
        .isInstanceOf(IllegalStateException.class);
  }

  private void stepOf(AppId app, Passage lane) throws InterruptedException {
    assertThat(turns.acquire(app, Duration.ZERO)).isTrue();
    turns.release(app, Set.of(lane));
  }

  /// So many more orders of the app, which keep their turns.
  private void waiting(AppId app, int orders) {
    int before = turns.waiting();
    for (int i = 0; i < orders; i++) {
      Thread.ofVirtual()
          .start(() -> {
            try {
              if (turns.acquire(app, PATIENCE)) {
                had.add(app);
              }
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }
    Eventually.within(PATIENCE, () -> assertThat(turns.waiting()).isEqualTo(before + orders));
  }

  private AppId next() throws InterruptedException {
    AppId next = had.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(next).isNotNull();
    return next;
  }

  /// Ends the step of `first`, then that of each app that gets the turn.
  private List<AppId> releaseEach(AppId first, int times) throws InterruptedException {
    List<AppId> order = new ArrayList<>();
    AppId one = first;
    for (int i = 0; i < times; i++) {
      turns.release(one, Set.of());
      one = next();
      order.add(one);
    }
    return order;
  }
}
