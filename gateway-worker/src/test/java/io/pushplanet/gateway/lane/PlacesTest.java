package io.pushplanet.gateway.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlacesTest {
  private static final AppId SHOP = new AppId("shop");
  private static final AppId BANK = new AppId("bank");
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final AtomicLong nanos = new AtomicLong();
  private final Places places = new Places(100, nanos::get);

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  /// Takes places until nobody would wait for more.
  private int fill(AppId app) throws InterruptedException {
    int taken = 0;
    while (true) {
      if (!entersAtOnce(app)) {
        return taken;
      }
      taken++;
    }
  }

  /// Nothing is answered here, so whoever gets no place gives up.
  private boolean entersAtOnce(AppId app) throws InterruptedException {
    pass(Places.PATIENCE);
    return places.enter(app);
  }

  @Test
  void an_app_alone_gets_four_fifths_and_there_is_room_for_one_more_app() throws Exception {
    int shop = fill(SHOP);
    int bank = fill(BANK);

    assertThat(shop).isEqualTo(80);
    assertThat(bank).isBetween(15, 18);
    assertThat(entersAtOnce(new AppId("third"))).isTrue();
  }

  @Test
  void who_waits_enters_when_a_place_becomes_free() throws Exception {
    fill(SHOP);
    places.leave(SHOP, nanos.get());
    assertThat(places.enter(SHOP)).isTrue();
    places.leave(SHOP, nanos.get());
    places.enter(SHOP);
    CompletableFuture<Boolean> waits = entering();
    places.leave(SHOP, nanos.get());

    Eventually.within(PATIENCE, () -> assertThat(waits).isCompletedWithValue(true));
  }

  @Test
  void who_waits_in_vain_gives_up_when_it_is_looked_after() throws Exception {
    fill(SHOP);
    places.leave(SHOP, nanos.get());
    assertThat(places.enter(SHOP)).isTrue();
    CompletableFuture<Boolean> waits = entering();
    pass(Places.PATIENCE);

    Eventually.within(
        PATIENCE,
        () -> {
          places.look();
          assertThat(waits).isCompletedWithValue(false);
        });
  }

  @Test
  void a_place_goes_to_who_waits_and_not_to_who_comes_when_it_becomes_free() throws Exception {
    fill(SHOP);
    places.leave(SHOP, nanos.get());
    assertThat(places.enter(SHOP)).isTrue();
    CompletableFuture<Boolean> waits = entering();
    Eventually.within(PATIENCE, () -> assertThat(places.waiting()).isOne());

    places.leave(SHOP, nanos.get());

    assertThat(entersAtOnce(SHOP)).isFalse();
    Eventually.within(PATIENCE, () -> assertThat(waits).isCompletedWithValue(true));
  }

  @Test
  void who_is_interrupted_leaves_the_line() throws Exception {
    fill(SHOP);
    places.leave(SHOP, nanos.get());
    assertThat(places.enter(SHOP)).isTrue();
    Thread waiter =
        Thread.ofVirtual()
            .start(() -> {
              try {
                places.enter(SHOP);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    Eventually.within(PATIENCE, () -> assertThat(places.waiting()).isOne());
    waiter.interrupt();
    waiter.join();
    assertThat(places.waiting()).isZero();

    places.leave(SHOP, nanos.get());

    assertThat(places.enter(SHOP)).isTrue();
  }

  private CompletableFuture<Boolean> entering() {
    CompletableFuture<Boolean> entered = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            entered.complete(places.enter(SHOP));
          } catch (InterruptedException e) {
            entered.completeExceptionally(e);
          }
        });
    return entered;
  }

  @Test
  void an_app_with_slow_answers_gets_an_eighth_until_they_are_fast_again() throws Exception {
    fill(SHOP);
    long entered = nanos.get();
    pass(Duration.ofSeconds(30));
    for (int i = 0; i < 79; i++) {
      places.leave(SHOP, entered);
    }
    int slow = 1 + fill(SHOP);
    for (int i = 0; i < 50; i++) {
      places.leave(SHOP, nanos.get());
      places.enter(SHOP);
    }

    assertThat(slow).isEqualTo(12);
    assertThat(slow + fill(SHOP)).isEqualTo(80);
  }

  @Test
  void who_is_sent_away_comes_back_when_those_before_have_had_their_turn() throws Exception {
    int held = fill(SHOP);
    places.leave(SHOP, nanos.get());
    places.enter(SHOP);
    pass(Duration.ofSeconds(8));

    List<Duration> back = sentAway(SHOP, 300_000);

    assertThat(held).isEqualTo(80);
    assertThat(back.getFirst()).isEqualTo(Places.SOONEST_BACK);
    assertThat(back.get(200)).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(26));
    assertThat(places.backIn(BANK)).as("another app").isEqualTo(Places.SOONEST_BACK);
  }

  /// Two minutes later they would be of no use to who waits for a code.
  @Test
  void who_is_sent_away_is_back_soon_after_its_provider() throws Exception {
    fill(SHOP);
    places.leave(SHOP, nanos.get());
    places.enter(SHOP);
    pass(Duration.ofSeconds(20));

    List<Duration> back = sentAway(SHOP, 300_000);

    assertThat(back.get(1_000)).isBetween(Places.SOON_BACK, Places.SOON_BACK.plusSeconds(1));
    assertThat(back.get(20_000)).as("a thousand a second").isLessThan(Duration.ofSeconds(51));
    assertThat(back.getLast()).isEqualTo(Places.LATEST_BACK);
  }

  @Test
  void who_is_sent_away_is_back_soon_where_requests_time_out() throws Exception {
    int held = fill(SHOP);
    for (int i = 0; i < held - 10; i++) {
      pass(Duration.ofMillis(100));
      places.leave(SHOP, nanos.get() - Duration.ofSeconds(10).toNanos());
    }

    assertThat(sentAway(SHOP, 1_000).getLast())
        .isBetween(Places.SOON_BACK, Places.SOON_BACK.plusSeconds(1));
  }

  @Test
  void all_apps_whose_provider_is_silent_share_the_pace_at_which_they_come_back() throws Exception {
    fill(SHOP);
    fill(BANK);
    places.look();

    List<Duration> shop = sentAway(SHOP, 20_000);
    List<Duration> bank = sentAway(BANK, 20_000);

    assertThat(shop.getLast()).isGreaterThan(Duration.ofSeconds(60));
    assertThat(bank.getLast()).isGreaterThan(Duration.ofSeconds(60));
  }

  private List<Duration> sentAway(AppId app, int many) {
    return IntStream.range(0, many).mapToObj(_ -> places.backIn(app)).toList();
  }
}
