package io.pushplanet.gateway.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.lane.Places.Heard;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlacesTest {
  private static final AppId SHOP = new AppId("shop");
  private static final AppId BANK = new AppId("bank");
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicInteger inHand = new AtomicInteger();
  private final Places places = new Places(100, inHand::get, nanos::get);

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  /// As the worker does: in hand is whoever asks, too.
  private boolean enter(AppId app) throws InterruptedException {
    inHand.incrementAndGet();
    boolean entered = false;
    try {
      entered = places.enter(app);
    } finally {
      if (!entered) {
        inHand.decrementAndGet();
      }
    }
    return entered;
  }

  private void leave(AppId app, long enteredNanos, boolean answered) {
    leave(app, enteredNanos, answered ? Heard.ANSWER : Heard.SILENCE);
  }

  private void leave(AppId app, long enteredNanos, Heard heard) {
    places.leave(app, enteredNanos, heard);
    inHand.decrementAndGet();
  }

  private void broughtForward(AppId app, int messages) {
    places.toCome(app, messages);
    places.broughtForward(app, messages, messages);
  }

  private void lookedInVain(AppId app) {
    places.toCome(app, 1);
    places.broughtForward(app, 1, 0);
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
    return enter(app);
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
    leave(SHOP, nanos.get(), true);
    assertThat(enter(SHOP)).isTrue();
    leave(SHOP, nanos.get(), true);
    enter(SHOP);
    CompletableFuture<Boolean> waits = entering();
    leave(SHOP, nanos.get(), true);

    Eventually.within(PATIENCE, () -> assertThat(waits).isCompletedWithValue(true));
  }

  @Test
  void who_waits_in_vain_gives_up_when_it_is_looked_after() throws Exception {
    fill(SHOP);
    leave(SHOP, nanos.get(), true);
    assertThat(enter(SHOP)).isTrue();
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
    leave(SHOP, nanos.get(), true);
    assertThat(enter(SHOP)).isTrue();
    CompletableFuture<Boolean> waits = entering();
    Eventually.within(PATIENCE, () -> assertThat(places.waiting()).isOne());

    leave(SHOP, nanos.get(), true);

    assertThat(entersAtOnce(SHOP)).isFalse();
    Eventually.within(PATIENCE, () -> assertThat(waits).isCompletedWithValue(true));
  }

  @Test
  void who_is_interrupted_leaves_the_line() throws Exception {
    fill(SHOP);
    leave(SHOP, nanos.get(), true);
    assertThat(enter(SHOP)).isTrue();
    Thread waiter =
        Thread.ofVirtual()
            .start(() -> {
              try {
                enter(SHOP);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    Eventually.within(PATIENCE, () -> assertThat(places.waiting()).isOne());
    waiter.interrupt();
    waiter.join();
    assertThat(places.waiting()).isZero();

    leave(SHOP, nanos.get(), true);

    assertThat(enter(SHOP)).isTrue();
  }

  private CompletableFuture<Boolean> entering() {
    CompletableFuture<Boolean> entered = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            entered.complete(enter(SHOP));
          } catch (InterruptedException e) {
            entered.completeExceptionally(e);
          }
        });
    return entered;
  }

  @Test
  void an_app_whose_requests_time_out_gets_an_eighth_until_they_are_answered_again()
      throws Exception {
    fill(SHOP);
    allButOneEnd(80, false);
    int silent = 1 + fill(SHOP);
    for (int i = 0; i < 50; i++) {
      leave(SHOP, nanos.get(), true);
      enter(SHOP);
    }

    assertThat(silent).isEqualTo(12);
    assertThat(silent + fill(SHOP)).isEqualTo(80);
  }

  @Test
  void an_app_with_slow_answers_gets_half_while_nobody_else_has_anything_in_hand()
      throws Exception {
    slowButAnswering();

    assertThat(inHand).hasValue(50);
    assertThat(places.taken()).isEqualTo(50);
  }

  @Test
  void an_app_with_slow_answers_gets_an_eighth_while_its_requests_keep_many_others_in_hand()
      throws Exception {
    fill(SHOP);
    allButOneEnd(80, true);
    inHand.set(51);

    assertThat(1 + fill(SHOP)).isEqualTo(12);
  }

  @Test
  void an_app_with_slow_answers_leaves_places_to_who_comes_and_takes_no_more_while_those_are_used()
      throws Exception {
    slowButAnswering();
    long entered = nanos.get();

    int bank = fill(BANK);
    pass(Duration.ofSeconds(8));
    for (int i = 0; i < 38; i++) {
      leave(SHOP, entered, true);
    }

    assertThat(bank).isEqualTo(40);
    assertThat(enter(SHOP)).as("beyond an eighth").isFalse();
    assertThat(bank + fill(BANK)).isEqualTo(71);
  }

  /// Has as many places as it gets; each of its requests is in hand.
  private void slowButAnswering() throws InterruptedException {
    fill(SHOP);
    allButOneEnd(80, true);
    boolean entered = true;
    while (entered) {
      entered = enter(SHOP);
    }
  }

  private void allButOneEnd(int held, boolean answered) {
    long entered = nanos.get();
    pass(Duration.ofSeconds(8));
    for (int i = 1; i < held; i++) {
      leave(SHOP, entered, answered);
    }
  }

  @Test
  void who_waits_elsewhere_is_to_come_once_there_are_places_and_no_more_than_those()
      throws Exception {
    slowButAnswering();
    places.backIn(SHOP);
    assertThat(places.roomFor(SHOP)).isZero();
    long entered = nanos.get();
    pass(Duration.ofSeconds(8));
    for (int i = 0; i < 20; i++) {
      leave(SHOP, entered, true);
    }

    assertThat(places.roomFor(SHOP)).isEqualTo(20);
    broughtForward(SHOP, 15);
    assertThat(places.roomFor(SHOP)).as("besides those on their way").isEqualTo(5);
    places.cameBack(SHOP);
    enter(SHOP);
    assertThat(places.roomFor(SHOP)).isEqualTo(5);
  }

  @Test
  void all_who_were_to_come_to_a_slow_provider_get_a_place_also_when_they_come_together()
      throws Exception {
    slowButAnswering();
    places.backIn(SHOP);
    long entered = nanos.get();
    pass(Duration.ofSeconds(8));
    for (int i = 0; i < 20; i++) {
      leave(SHOP, entered, true);
    }
    int toCome = places.roomFor(SHOP);
    broughtForward(SHOP, toCome);

    inHand.addAndGet(toCome);
    for (int i = 0; i < toCome; i++) {
      places.cameBack(SHOP);
      assertThat(places.enter(SHOP)).as("the %dth", i).isTrue();
    }

    assertThat(places.taken()).isEqualTo(50);
  }

  @Test
  void apps_that_wait_elsewhere_are_not_promised_the_same_places() {
    List<AppId> apps = IntStream.range(0, 50).mapToObj(i -> new AppId("app" + i)).toList();
    apps.forEach(places::backIn);

    assertThat(bringForward()).isBetween(95, 100);
    assertThat(bringForward()).isLessThan(5);
    pass(Places.ON_ITS_WAY);
    assertThat(bringForward()).as("with another worker").isBetween(95, 100);
  }

  @Test
  void slow_apps_that_wait_elsewhere_are_not_promised_the_same_half() throws Exception {
    slowButAnswering();
    places.backIn(SHOP);
    slow(BANK);
    places.backIn(BANK);
    long entered = nanos.get();
    pass(Duration.ofSeconds(8));
    for (int i = 0; i < 49; i++) {
      leave(SHOP, entered, true);
    }

    int first = places.roomFor(BANK);
    broughtForward(BANK, first);

    assertThat(first).isEqualTo(49);
    assertThat(places.roomFor(SHOP)).as("an eighth, one of which it has").isEqualTo(11);
  }

  /// It has nothing in hand afterwards.
  private void slow(AppId app) throws InterruptedException {
    for (int i = 0; i < 4; i++) {
      assertThat(enter(app)).isTrue();
      places.backIn(app);
      leave(app, nanos.get() - Duration.ofSeconds(8).toNanos(), true);
    }
  }

  @Test
  void another_app_is_the_first_to_be_promised_places_each_time() {
    List<AppId> apps = List.of(SHOP, BANK, new AppId("third"));
    apps.forEach(places::backIn);

    assertThat(IntStream.range(0, 3).mapToObj(_ -> places.waitingElsewhere().getFirst()))
        .containsExactlyInAnyOrderElementsOf(apps);
  }

  /// @return how many
  private int bringForward() {
    int brought = 0;
    for (AppId app : places.waitingElsewhere()) {
      int room = places.roomFor(app);
      if (room > 0) {
        broughtForward(app, room);
        brought += room;
      }
    }
    return brought;
  }

  @Test
  void some_who_wait_elsewhere_are_to_come_also_while_others_wait_here() throws Exception {
    fill(SHOP);
    places.backIn(SHOP);
    leave(SHOP, nanos.get(), true);
    enter(SHOP);
    entering();

    Eventually.within(PATIENCE, () -> assertThat(places.waiting()).isOne());
    assertThat(places.roomFor(SHOP)).as("an eighth, one of which waits here").isEqualTo(11);
    pass(Places.PATIENCE);
    assertThat(places.roomFor(SHOP)).isZero();
    places.look();
  }

  @Test
  void who_is_to_come_and_does_not_is_with_another_worker() throws Exception {
    enter(SHOP);
    places.backIn(SHOP);
    leave(SHOP, nanos.get(), true);
    broughtForward(SHOP, 80);
    assertThat(places.roomFor(SHOP)).isZero();

    pass(Places.ON_ITS_WAY);

    assertThat(places.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void who_is_with_another_worker_is_forgotten_also_while_more_are_on_their_way() {
    places.backIn(SHOP);
    broughtForward(SHOP, 40);
    pass(Places.ON_ITS_WAY.dividedBy(2));
    broughtForward(SHOP, 20);
    pass(Places.ON_ITS_WAY.dividedBy(2));

    assertThat(places.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void who_is_behind_a_long_queue_is_waited_for_longer_each_time_until_most_of_a_wave_come()
      throws Exception {
    places.backIn(SHOP);
    List<Integer> waited =
        IntStream.range(0, 8)
            .mapToObj(_ -> {
              broughtForward(SHOP, 80);
              return secondsUntilMoreAreToCome();
            })
            .toList();
    assertThat(waited).containsExactly(10, 20, 40, 80, 160, 320, 320, 320);

    broughtForward(SHOP, 80);
    IntStream.range(0, 50).forEach(_ -> places.cameBack(SHOP));
    assertThat(secondsUntilMoreAreToCome()).as("before it was known").isEqualTo(320);

    broughtForward(SHOP, 80);
    assertThat(secondsUntilMoreAreToCome()).isEqualTo(10);
  }

  @Test
  void a_wave_that_came_is_followed_by_one_that_is_waited_for_as_long_as_the_first() {
    places.backIn(SHOP);
    for (int i = 0; i < 3; i++) {
      broughtForward(SHOP, 80);
      secondsUntilMoreAreToCome();
    }
    broughtForward(SHOP, 80);
    IntStream.range(0, 80).forEach(_ -> places.cameBack(SHOP));

    broughtForward(SHOP, 80);

    assertThat(secondsUntilMoreAreToCome()).isEqualTo(10);
  }

  @Test
  void an_app_that_is_given_up_leaves_the_places_of_those_that_did_not_come() {
    places.backIn(SHOP);
    for (int i = 0; i < 4; i++) {
      broughtForward(SHOP, 80);
      secondsUntilMoreAreToCome();
    }
    broughtForward(SHOP, 30);
    for (int i = 0; i < Places.LOOKS_IN_VAIN; i++) {
      lookedInVain(SHOP);
      pass(Places.LOOK_AGAIN);
    }
    assertThat(places.waitingElsewhere()).isEmpty();

    places.backIn(BANK);

    assertThat(places.roomFor(BANK)).isEqualTo(80);
  }

  /// Until all places are to be had again.
  private int secondsUntilMoreAreToCome() {
    int seconds = 0;
    while (places.roomFor(SHOP) < 80) {
      pass(Duration.ofSeconds(1));
      seconds++;
    }
    return seconds;
  }

  @Test
  void who_waits_for_a_silent_provider_is_to_come_one_at_a_time_until_it_answers()
      throws Exception {
    fill(SHOP);
    places.backIn(SHOP);
    allButOneEnd(80, false);
    assertThat(places.roomFor(SHOP)).as("one is under way").isZero();
    leave(SHOP, nanos.get(), false);

    assertThat(places.roomFor(SHOP)).isOne();
    assertThat(oneByOneUntilThereIsRoomForMore()).isBetween(5, 20);
  }

  @Test
  void
      who_waits_for_a_provider_that_cannot_be_reached_is_to_come_one_at_a_time_however_soon_that_shows()
          throws Exception {
    places.backIn(SHOP);
    for (int i = 0; i < 20; i++) {
      enter(SHOP);
      leave(SHOP, nanos.get(), false);
    }

    assertThat(places.roomFor(SHOP)).isOne();
    assertThat(oneByOneUntilThereIsRoomForMore()).isBetween(5, 8);
    assertThat(fill(SHOP)).as("what comes anew").isEqualTo(80);
  }

  @Test
  void a_provider_that_loses_some_requests_is_not_silent() throws Exception {
    places.backIn(SHOP);
    for (int i = 0; i < 30; i++) {
      enter(SHOP);
      leave(SHOP, nanos.get(), i % 3 > 0);
      assertThat(places.roomFor(SHOP)).isEqualTo(80);
    }
  }

  @Test
  void
      who_waits_for_a_provider_that_is_not_to_be_asked_is_to_come_one_at_a_time_until_one_is_answered()
          throws Exception {
    places.backIn(SHOP);
    places.notAsked(SHOP);

    assertThat(places.roomFor(SHOP)).isOne();
    for (int i = 0; i < 20; i++) {
      enter(SHOP);
      leave(SHOP, nanos.get(), Heard.NOT_ASKED);
      assertThat(places.roomFor(SHOP)).isOne();
    }
    assertThat(oneByOneUntilThereIsRoomForMore()).isOne();
    assertThat(places.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void a_silent_provider_that_is_not_asked_is_as_silent_as_before() throws Exception {
    fill(SHOP);
    places.backIn(SHOP);
    allButOneEnd(80, false);
    leave(SHOP, nanos.get(), false);
    for (int i = 0; i < 20; i++) {
      enter(SHOP);
      leave(SHOP, nanos.get(), Heard.NOT_ASKED);
    }

    assertThat(places.roomFor(SHOP)).isOne();
    assertThat(fill(SHOP)).isEqualTo(12);
  }

  @Test
  void who_holds_places_for_long_to_ask_nobody_is_silent() throws Exception {
    places.backIn(SHOP);
    for (int i = 0; i < 20; i++) {
      enter(SHOP);
      leave(SHOP, nanos.get() - Duration.ofSeconds(5).toNanos(), Heard.NOT_ASKED);
    }

    assertThat(places.roomFor(SHOP)).isOne();
    assertThat(fill(SHOP)).isEqualTo(12);
  }

  @Test
  void while_no_answer_comes_nobody_who_waits_elsewhere_is_to_come() throws Exception {
    enter(SHOP);
    places.backIn(SHOP);
    assertThat(places.roomFor(SHOP)).isEqualTo(79);

    pass(Places.PATIENCE);

    assertThat(places.roomFor(SHOP)).isZero();
  }

  @Test
  void what_waited_before_this_worker_began_comes_one_at_a_time_until_its_provider_answers()
      throws Exception {
    places.waitsElsewhere(SHOP);

    assertThat(places.waitingElsewhere()).containsExactly(SHOP);
    assertThat(places.roomFor(SHOP)).isOne();
    assertThat(oneByOneUntilThereIsRoomForMore()).isBetween(5, 8);
    assertThat(places.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void what_waited_before_this_worker_began_takes_no_places_from_what_comes_anew()
      throws Exception {
    places.waitsElsewhere(SHOP);

    assertThat(fill(SHOP)).isEqualTo(80);
  }

  @Test
  void what_waited_for_a_silent_provider_before_this_worker_began_comes_one_at_a_time()
      throws Exception {
    places.waitsElsewhere(SHOP);
    for (int i = 0; i < 20; i++) {
      long entered = nanos.get();
      enter(SHOP);
      pass(Duration.ofSeconds(10));
      leave(SHOP, entered, false);
      assertThat(places.roomFor(SHOP)).isOne();
    }
  }

  /// @return how many were answered until then
  private int oneByOneUntilThereIsRoomForMore() throws InterruptedException {
    int answered = 0;
    while (places.roomFor(SHOP) == 1) {
      broughtForward(SHOP, 1);
      assertThat(places.roomFor(SHOP)).isZero();
      places.cameBack(SHOP);
      assertThat(enter(SHOP)).isTrue();
      assertThat(places.roomFor(SHOP)).isZero();
      leave(SHOP, nanos.get(), true);
      answered++;
    }
    return answered;
  }

  @Test
  void who_comes_before_all_are_brought_forward_is_on_its_way_no_more() {
    places.backIn(SHOP);
    places.toCome(SHOP, 50);
    for (int i = 0; i < 20; i++) {
      places.cameBack(SHOP);
    }
    places.broughtForward(SHOP, 50, 40);

    assertThat(places.roomFor(SHOP)).as("besides twenty").isEqualTo(60);
  }

  @Test
  void an_app_of_which_nothing_was_found_is_asked_about_again_a_second_later() {
    places.backIn(SHOP);
    assertThat(places.roomFor(SHOP)).isEqualTo(80);
    lookedInVain(SHOP);

    places.backIn(SHOP);
    assertThat(places.roomFor(SHOP)).isZero();
    pass(Places.LOOK_AGAIN);
    assertThat(places.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void an_app_is_asked_about_until_it_was_looked_for_in_vain_for_as_long_as_it_takes_to_write_it() {
    places.backIn(SHOP);
    for (int i = 0; i < Places.LOOKS_IN_VAIN; i++) {
      assertThat(places.waitingElsewhere()).containsExactly(SHOP);
      lookedInVain(SHOP);
      pass(Places.LOOK_AGAIN);
    }

    assertThat(places.waitingElsewhere()).isEmpty();
    assertThat(places.roomFor(SHOP)).isZero();
  }

  @Test
  void an_app_is_not_given_up_for_the_time_in_which_nobody_could_look_nor_write() {
    places.backIn(SHOP);
    pass(Duration.ofMinutes(5));
    lookedInVain(SHOP);
    pass(Duration.ofMinutes(5));
    lookedInVain(SHOP);
    assertThat(places.waitingElsewhere()).containsExactly(SHOP);

    pass(Places.LOOK_AGAIN);
    broughtForward(SHOP, 1);
    for (int i = 1; i < Places.LOOKS_IN_VAIN; i++) {
      lookedInVain(SHOP);
    }
    assertThat(places.waitingElsewhere()).containsExactly(SHOP);
  }

  @Test
  void no_more_than_a_hundred_a_second_come_back_unasked() {
    List<Duration> back = sentAway(SHOP, 60_000);

    assertThat(back.getFirst()).isEqualTo(Places.SOONEST_BACK);
    assertThat(back.getLast()).isBetween(Duration.ofSeconds(899), Duration.ofSeconds(900));
    assertThat(sentAway(SHOP, 3_000_000).getLast()).isEqualTo(Places.LATEST_BACK);
    assertThat(places.backIn(BANK)).as("another app").isEqualTo(Places.SOONEST_BACK);
  }

  @Test
  void all_apps_whose_provider_is_silent_share_the_pace_at_which_they_come_back() throws Exception {
    fill(SHOP);
    fill(BANK);
    places.look();

    List<Duration> shop = sentAway(SHOP, 20_000);
    List<Duration> bank = sentAway(BANK, 20_000);

    assertThat(shop.getLast()).isGreaterThan(Duration.ofSeconds(360));
    assertThat(bank.getLast()).isGreaterThan(Duration.ofSeconds(360));
  }

  private List<Duration> sentAway(AppId app, int many) {
    return IntStream.range(0, many).mapToObj(_ -> places.backIn(app)).toList();
  }
}
