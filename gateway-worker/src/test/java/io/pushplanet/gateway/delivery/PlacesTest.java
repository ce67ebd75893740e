package io.pushplanet.gateway.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
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
    CompletableFuture<Boolean> waits = new CompletableFuture<>();

    Thread.ofVirtual()
        .start(() -> {
          try {
            waits.complete(places.enter(SHOP));
          } catch (InterruptedException e) {
            waits.completeExceptionally(e);
          }
        });
    places.leave(SHOP, nanos.get());

    Eventually.within(PATIENCE, () -> assertThat(valueOf(waits)).isTrue());
  }

  @Test
  void who_waits_in_vain_gives_up_when_it_is_looked_after() throws Exception {
    fill(SHOP);
    places.leave(SHOP, nanos.get());
    assertThat(places.enter(SHOP)).isTrue();
    CompletableFuture<Boolean> waits = new CompletableFuture<>();

    Thread.ofVirtual()
        .start(() -> {
          try {
            waits.complete(places.enter(SHOP));
          } catch (InterruptedException e) {
            waits.completeExceptionally(e);
          }
        });
    pass(Places.PATIENCE);

    Eventually.within(
        PATIENCE,
        () -> {
          places.look();
          assertThat(waits).isCompletedWithValue(false);
        });
  }

  private static boolean valueOf(CompletableFuture<Boolean> future) {
    try {
      return future.isDone() && future.get();
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    }
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
}
