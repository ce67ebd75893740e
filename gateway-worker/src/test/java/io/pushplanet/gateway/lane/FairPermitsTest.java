package io.pushplanet.gateway.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class FairPermitsTest extends PermitScene {
  @Test
  void an_app_alone_gets_four_fifths_and_leaves_permits_for_one_more_app() throws Exception {
    int shop = fill(SHOP);
    int bank = fill(BANK);

    assertThat(shop).isEqualTo(80);
    assertThat(bank).isBetween(15, 18);
    assertThat(getsOneAtOnce(new AppId("third"))).isTrue();
  }

  @Test
  void a_waiting_request_of_a_stuck_app_is_refused() throws Exception {
    fill(SHOP);
    release(SHOP, nanos.get(), true);
    assertThat(acquire(SHOP)).isTrue();
    CompletableFuture<Boolean> waits = acquiring();
    Eventually.within(PATIENCE, () -> assertThat(permits.waiting()).isOne());
    pass(FairPermits.PATIENCE);

    Eventually.within(
        PATIENCE,
        () -> {
          permits.refuseStuck();
          assertThat(waits).isCompletedWithValue(false);
        });
  }

  @Test
  void a_free_permit_goes_to_the_waiting_request_and_not_to_a_new_one() throws Exception {
    fill(SHOP);
    release(SHOP, nanos.get(), true);
    assertThat(acquire(SHOP)).isTrue();
    CompletableFuture<Boolean> waits = acquiring();
    Eventually.within(PATIENCE, () -> assertThat(permits.waiting()).isOne());

    release(SHOP, nanos.get(), true);

    assertThat(getsOneAtOnce(SHOP)).isFalse();
    Eventually.within(PATIENCE, () -> assertThat(waits).isCompletedWithValue(true));
  }

  @Test
  void an_interrupted_request_leaves_the_queue() throws Exception {
    fill(SHOP);
    release(SHOP, nanos.get(), true);
    assertThat(acquire(SHOP)).isTrue();
    Thread waiter =
        Thread.ofVirtual()
            .start(() -> {
              try {
                acquire(SHOP);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    Eventually.within(PATIENCE, () -> assertThat(permits.waiting()).isOne());
    waiter.interrupt();
    waiter.join();
    assertThat(permits.waiting()).isZero();

    release(SHOP, nanos.get(), true);

    assertThat(acquire(SHOP)).isTrue();
  }

  @Test
  void an_app_whose_requests_time_out_gets_an_eighth_until_they_are_answered_again()
      throws Exception {
    fill(SHOP);
    allButOneEnd(80, false);
    int silent = 1 + fill(SHOP);
    for (int i = 0; i < 50; i++) {
      release(SHOP, nanos.get(), true);
      acquire(SHOP);
    }

    assertThat(silent).isEqualTo(12);
    assertThat(silent + fill(SHOP)).isEqualTo(80);
  }

  @Test
  void an_app_with_slow_answers_gets_half_of_a_lane_that_is_otherwise_idle() throws Exception {
    fillSlowly();

    assertThat(inHand).hasValue(50);
    assertThat(permits.inUse()).isEqualTo(50);
  }

  @Test
  void an_app_with_slow_answers_gets_an_eighth_while_half_of_the_lane_is_in_hand()
      throws Exception {
    fill(SHOP);
    allButOneEnd(80, true);
    inHand.set(51);

    assertThat(1 + fill(SHOP)).isEqualTo(12);
  }

  @Test
  void an_app_with_slow_answers_gets_no_more_while_another_app_uses_its_permits() throws Exception {
    fillSlowly();
    long acquired = nanos.get();

    int bank = fill(BANK);
    pass(Duration.ofSeconds(8));
    for (int i = 0; i < 38; i++) {
      release(SHOP, acquired, true);
    }

    assertThat(bank).isEqualTo(40);
    assertThat(acquire(SHOP)).as("beyond an eighth").isFalse();
    assertThat(bank + fill(BANK)).isEqualTo(71);
  }
}
