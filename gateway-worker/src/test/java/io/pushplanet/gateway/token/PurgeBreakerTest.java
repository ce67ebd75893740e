package io.pushplanet.gateway.token;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import org.junit.jupiter.api.Test;

class PurgeBreakerTest {
  private static final AppId SHOP = new AppId("shop");

  private final MutableClock clock = MutableClock.started();
  private final PurgeBreaker breaker = new PurgeBreaker(clock);

  @Test
  void a_few_dead_tokens_among_many_are_forgotten() {
    assertThat(answers(SHOP, 190, 10)).isFalse();
  }

  @Test
  void when_more_than_five_percent_of_200_die_nothing_is_forgotten_any_more() {
    assertThat(answers(SHOP, 189, 11)).isTrue();
  }

  @Test
  void a_small_app_is_not_stopped_by_few_answers() {
    assertThat(answers(SHOP, 0, 199)).isFalse();
  }

  @Test
  void one_apps_fault_does_not_stop_another() {
    answers(SHOP, 0, 300);

    assertThat(breaker.count(new AppId("bank"), Channel.APNS, true)).isFalse();
    assertThat(breaker.count(SHOP, Channel.FCM, true)).isFalse();
  }

  @Test
  void it_closes_again_when_tokens_live() {
    answers(SHOP, 0, 300);
    clock.advance(PurgeBreaker.OPEN.plus(PurgeBreaker.WINDOW));

    assertThat(breaker.count(SHOP, Channel.APNS, true)).isFalse();
  }

  private boolean answers(AppId app, int alive, int dead) {
    boolean open = false;
    for (int i = 0; i < alive; i++) {
      open = breaker.count(app, Channel.APNS, false);
    }
    for (int i = 0; i < dead; i++) {
      open = breaker.count(app, Channel.APNS, true);
    }
    return open;
  }
}
