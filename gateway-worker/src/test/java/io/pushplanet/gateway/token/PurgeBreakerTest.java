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

  @Test
  void what_a_wrong_credential_would_cause_is_not_believed_before_more_was_accepted() {
    assertThat(breaker.believes(SHOP, Channel.APNS, "production")).isFalse();

    breaker.accepted(SHOP, Channel.APNS, "production");
    breaker.accepted(SHOP, Channel.APNS, "production");
    breaker.accepted(SHOP, Channel.APNS, "production");

    assertThat(breaker.believes(SHOP, Channel.APNS, "production")).isTrue();
    assertThat(breaker.believes(SHOP, Channel.APNS, "sandbox")).isFalse();
    assertThat(breaker.believes(new AppId("bank"), Channel.APNS, "production")).isFalse();
  }

  @Test
  void after_a_change_of_credentials_all_has_to_be_proved_again() {
    proved();

    breaker.credentialsChanged(SHOP);

    // Late answers to what the former one sent prove nothing.
    breaker.accepted(SHOP, Channel.APNS, "production");
    breaker.accepted(SHOP, Channel.APNS, "production");
    assertThat(breaker.believes(SHOP, Channel.APNS, "production")).isFalse();
    clock.advance(PurgeBreaker.SETTLING.plusSeconds(1));
    proved();
    assertThat(breaker.believes(SHOP, Channel.APNS, "production")).isTrue();
  }

  @Test
  void a_hundred_thousand_such_deaths_with_nothing_accepted_are_not_believed_once() {
    for (int i = 0; i < 100_000; i++) {
      assertThat(breaker.believes(SHOP, Channel.APNS, "production")).isFalse();
    }
    assertThat(breaker.manyUnproven(SHOP, Channel.APNS, "production")).isTrue();
  }

  private void proved() {
    for (int i = 0; i < 5_000; i++) {
      breaker.accepted(SHOP, Channel.APNS, "production");
    }
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
