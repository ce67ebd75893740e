package io.pushplanet.gateway.token;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
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

  /// Twenty workers send a hundred and fifty messages a minute each.
  @Test
  void deaths_in_few_answers_of_many_workers_are_counted_together() {
    int[] all = new int[2];
    PurgeBreaker.Together together =
        (_, _, sends, dead, fewest) -> {
          all[0] += sends;
          all[1] += dead;
          return Optional.of(
              PurgeBreaker.tooManyDead(all[0], all[1], fewest) ? PurgeBreaker.OPEN : Duration.ZERO);
        };
    List<PurgeBreaker> workers =
        IntStream.range(0, 20).mapToObj(_ -> new PurgeBreaker(clock, together)).toList();

    int believed = 0;
    for (int message = 0; message < 150; message++) {
      for (PurgeBreaker worker : workers) {
        boolean dead = message % 10 < 3;
        believed += !worker.count(SHOP, Channel.APNS, dead) && dead ? 1 : 0;
      }
      clock.advance(Duration.ofMillis(400));
    }

    // Three of ten, and no more than the answers that it takes to judge.
    assertThat(believed).isLessThanOrEqualTo(PurgeBreaker.FEWEST_SENDS);
    assertThat(workers).allMatch(worker -> worker.count(SHOP, Channel.APNS, true));
  }

  @Test
  void deaths_are_reported_at_once_and_other_answers_once_a_second() {
    List<String> told = new ArrayList<>();
    PurgeBreaker breaker =
        new PurgeBreaker(
            clock,
            (_, _, sends, dead, _) -> {
              told.add(sends + "/" + dead);
              return Optional.of(Duration.ZERO);
            });

    for (int i = 0; i < 5; i++) {
      breaker.count(SHOP, Channel.APNS, false);
    }
    breaker.count(SHOP, Channel.APNS, true);
    breaker.count(SHOP, Channel.APNS, false);
    clock.advance(Duration.ofSeconds(1));
    breaker.count(SHOP, Channel.APNS, false);

    assertThat(told).containsExactly("1/0", "5/1", "2/0");
  }

  @Test
  void while_credentials_are_new_fewer_answers_are_enough_to_judge() {
    assertThat(answers(SHOP, 18, 2)).isFalse();

    breaker.credentialsChanged(SHOP);

    assertThat(answers(SHOP, 0, 1)).isTrue();
    assertThat(answers(new AppId("bank"), 18, 2)).isFalse();
  }

  @Test
  void deaths_of_a_wrong_credential_are_not_believed_before_it_is_proven() {
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

    // Late answers to the former credential's messages prove nothing.
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
