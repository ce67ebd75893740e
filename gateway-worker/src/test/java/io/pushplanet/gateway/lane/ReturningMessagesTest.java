package io.pushplanet.gateway.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.lane.FairPermits.Response;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReturningMessagesTest extends PermitScene {
  private final ReturningMessages returning = new ReturningMessages(permits, nanos::get);

  private void fetched(AppId app, int messages) {
    returning.expect(app, messages);
    returning.fetched(app, messages, messages);
  }

  private void fetchedNothing(AppId app) {
    returning.expect(app, 1);
    returning.fetched(app, 1, 0);
  }

  @Test
  void as_many_messages_are_fetched_as_there_are_permits() throws Exception {
    fillSlowly();
    returning.putOff(SHOP);
    assertThat(returning.roomFor(SHOP)).isZero();
    long acquired = nanos.get();
    pass(Duration.ofSeconds(8));
    for (int i = 0; i < 20; i++) {
      release(SHOP, acquired, true);
    }

    assertThat(returning.roomFor(SHOP)).isEqualTo(20);
    fetched(SHOP, 15);
    assertThat(returning.roomFor(SHOP)).as("besides those on their way").isEqualTo(5);
    returning.arrived(SHOP);
    acquire(SHOP);
    assertThat(returning.roomFor(SHOP)).isEqualTo(5);
  }

  @Test
  void fetched_messages_for_a_slow_provider_get_permits_even_if_they_arrive_together()
      throws Exception {
    fillSlowly();
    returning.putOff(SHOP);
    long acquired = nanos.get();
    pass(Duration.ofSeconds(8));
    for (int i = 0; i < 20; i++) {
      release(SHOP, acquired, true);
    }
    int room = returning.roomFor(SHOP);
    fetched(SHOP, room);

    inHand.addAndGet(room);
    for (int i = 0; i < room; i++) {
      returning.arrived(SHOP);
      assertThat(permits.acquire(SHOP)).as("the %dth", i).isTrue();
    }

    assertThat(permits.inUse()).isEqualTo(50);
  }

  /// Otherwise each failed fetch counted as a long queue, and the next wait was twice as long.
  @Test
  void a_failed_fetch_is_repeated_at_once() {
    returning.putOff(SHOP);
    int room = returning.roomFor(SHOP);
    for (int i = 0; i < 3; i++) {
      returning.expect(SHOP, room);
      returning.notFetched(SHOP, room);

      assertThat(returning.roomFor(SHOP)).isEqualTo(room);
      pass(ReturningMessages.ON_ITS_WAY);
    }
    assertThat(room).isPositive();
  }

  @Test
  void no_two_apps_are_promised_the_same_permits() {
    List<AppId> apps = IntStream.range(0, 50).mapToObj(i -> new AppId("app" + i)).toList();
    apps.forEach(returning::putOff);

    assertThat(fetchAll()).isBetween(95, 100);
    assertThat(fetchAll()).isLessThan(5);
    pass(ReturningMessages.ON_ITS_WAY);
    assertThat(fetchAll()).as("after ten seconds").isBetween(95, 100);
  }

  @Test
  void no_two_slow_apps_are_promised_the_same_half() throws Exception {
    fillSlowly();
    returning.putOff(SHOP);
    slow(BANK);
    returning.putOff(BANK);
    long acquired = nanos.get();
    pass(Duration.ofSeconds(8));
    for (int i = 0; i < 49; i++) {
      release(SHOP, acquired, true);
    }

    int first = returning.roomFor(BANK);
    fetched(BANK, first);

    assertThat(first).isEqualTo(49);
    assertThat(returning.roomFor(SHOP)).as("an eighth, one of which it has").isEqualTo(11);
  }

  /// The app has nothing in hand afterwards.
  private void slow(AppId app) throws InterruptedException {
    for (int i = 0; i < 4; i++) {
      assertThat(acquire(app)).isTrue();
      returning.putOff(app);
      release(app, nanos.get() - Duration.ofSeconds(8).toNanos(), true);
    }
  }

  @Test
  void each_round_promises_permits_to_another_app_first() {
    List<AppId> apps = List.of(SHOP, BANK, new AppId("third"));
    apps.forEach(returning::putOff);

    assertThat(IntStream.range(0, 3).mapToObj(_ -> returning.appsInLater().getFirst()))
        .containsExactlyInAnyOrderElementsOf(apps);
  }

  /// @return how many messages were fetched
  private int fetchAll() {
    int fetched = 0;
    for (AppId app : returning.appsInLater()) {
      int room = returning.roomFor(app);
      if (room > 0) {
        fetched(app, room);
        fetched += room;
      }
    }
    return fetched;
  }

  @Test
  void some_messages_are_fetched_also_while_others_wait_here() throws Exception {
    fill(SHOP);
    returning.putOff(SHOP);
    release(SHOP, nanos.get(), true);
    acquire(SHOP);
    acquiring();

    Eventually.within(PATIENCE, () -> assertThat(permits.waiting()).isOne());
    assertThat(returning.roomFor(SHOP)).as("an eighth, one of which waits here").isEqualTo(11);
    pass(FairPermits.PATIENCE);
    assertThat(returning.roomFor(SHOP)).isZero();
    permits.refuseStuck();
  }

  @Test
  void a_fetched_message_that_does_not_arrive_is_with_another_worker() throws Exception {
    acquire(SHOP);
    returning.putOff(SHOP);
    release(SHOP, nanos.get(), true);
    fetched(SHOP, 80);
    assertThat(returning.roomFor(SHOP)).isZero();

    pass(ReturningMessages.ON_ITS_WAY);

    assertThat(returning.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void an_overdue_message_is_given_up_also_while_more_are_on_their_way() {
    returning.putOff(SHOP);
    fetched(SHOP, 40);
    pass(ReturningMessages.ON_ITS_WAY.dividedBy(2));
    fetched(SHOP, 20);
    pass(ReturningMessages.ON_ITS_WAY.dividedBy(2));

    assertThat(returning.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void each_overdue_wave_gives_the_next_one_twice_as_long_until_most_arrive() throws Exception {
    returning.putOff(SHOP);
    List<Integer> waited =
        IntStream.range(0, 8)
            .mapToObj(_ -> {
              fetched(SHOP, 80);
              return secondsUntilThereIsRoom();
            })
            .toList();
    assertThat(waited).containsExactly(10, 20, 40, 80, 160, 320, 320, 320);

    fetched(SHOP, 80);
    IntStream.range(0, 50).forEach(_ -> returning.arrived(SHOP));
    assertThat(secondsUntilThereIsRoom()).as("not known yet").isEqualTo(320);

    fetched(SHOP, 80);
    assertThat(secondsUntilThereIsRoom()).isEqualTo(10);
  }

  @Test
  void after_a_wave_that_arrived_the_next_is_given_ten_seconds_again() {
    returning.putOff(SHOP);
    for (int i = 0; i < 3; i++) {
      fetched(SHOP, 80);
      secondsUntilThereIsRoom();
    }
    fetched(SHOP, 80);
    IntStream.range(0, 80).forEach(_ -> returning.arrived(SHOP));

    fetched(SHOP, 80);

    assertThat(secondsUntilThereIsRoom()).isEqualTo(10);
  }

  @Test
  void a_given_up_app_leaves_the_permits_of_its_missing_messages() {
    returning.putOff(SHOP);
    for (int i = 0; i < 4; i++) {
      fetched(SHOP, 80);
      secondsUntilThereIsRoom();
    }
    fetched(SHOP, 30);
    for (int i = 0; i < ReturningMessages.EMPTY_FETCHES; i++) {
      fetchedNothing(SHOP);
      pass(ReturningMessages.FETCH_AGAIN);
    }
    assertThat(returning.appsInLater()).isEmpty();

    returning.putOff(BANK);

    assertThat(returning.roomFor(BANK)).isEqualTo(80);
  }

  /// Until all permits are available again.
  private int secondsUntilThereIsRoom() {
    int seconds = 0;
    while (returning.roomFor(SHOP) < 80) {
      pass(Duration.ofSeconds(1));
      seconds++;
    }
    return seconds;
  }

  @Test
  void messages_for_a_silent_provider_are_fetched_one_at_a_time_until_it_answers()
      throws Exception {
    fill(SHOP);
    returning.putOff(SHOP);
    allButOneEnd(80, false);
    assertThat(returning.roomFor(SHOP)).as("one is under way").isZero();
    release(SHOP, nanos.get(), false);

    assertThat(returning.roomFor(SHOP)).isOne();
    assertThat(answersUntilThereIsRoomForMore()).isBetween(5, 20);
  }

  @Test
  void messages_for_an_unreachable_provider_are_fetched_one_at_a_time() throws Exception {
    returning.putOff(SHOP);
    for (int i = 0; i < 20; i++) {
      acquire(SHOP);
      release(SHOP, nanos.get(), false);
    }

    assertThat(returning.roomFor(SHOP)).isOne();
    assertThat(answersUntilThereIsRoomForMore()).isBetween(5, 8);
    assertThat(fill(SHOP)).as("new messages").isEqualTo(80);
  }

  @Test
  void a_provider_that_loses_some_requests_is_not_silent() throws Exception {
    returning.putOff(SHOP);
    for (int i = 0; i < 30; i++) {
      acquire(SHOP);
      release(SHOP, nanos.get(), i % 3 > 0);
      assertThat(returning.roomFor(SHOP)).isEqualTo(80);
    }
  }

  @Test
  void messages_for_a_resting_provider_are_fetched_one_at_a_time_until_it_answers()
      throws Exception {
    returning.putOff(SHOP);
    returning.providerNotAsked(SHOP);

    assertThat(returning.roomFor(SHOP)).isOne();
    for (int i = 0; i < 20; i++) {
      acquire(SHOP);
      release(SHOP, nanos.get(), Response.NOT_ASKED);
      assertThat(returning.roomFor(SHOP)).isOne();
    }
    assertThat(answersUntilThereIsRoomForMore()).isOne();
    assertThat(returning.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void a_silent_provider_that_is_not_asked_stays_silent() throws Exception {
    fill(SHOP);
    returning.putOff(SHOP);
    allButOneEnd(80, false);
    release(SHOP, nanos.get(), false);
    for (int i = 0; i < 20; i++) {
      acquire(SHOP);
      release(SHOP, nanos.get(), Response.NOT_ASKED);
    }

    assertThat(returning.roomFor(SHOP)).isOne();
    assertThat(fill(SHOP)).isEqualTo(12);
  }

  @Test
  void a_request_that_holds_its_permit_for_long_unsent_counts_as_silence() throws Exception {
    returning.putOff(SHOP);
    for (int i = 0; i < 20; i++) {
      acquire(SHOP);
      release(SHOP, nanos.get() - Duration.ofSeconds(5).toNanos(), Response.NOT_ASKED);
    }

    assertThat(returning.roomFor(SHOP)).isOne();
    assertThat(fill(SHOP)).isEqualTo(12);
  }

  @Test
  void no_message_is_fetched_while_no_answer_comes() throws Exception {
    acquire(SHOP);
    returning.putOff(SHOP);
    assertThat(returning.roomFor(SHOP)).isEqualTo(79);

    pass(FairPermits.PATIENCE);

    assertThat(returning.roomFor(SHOP)).isZero();
  }

  @Test
  void messages_from_before_this_worker_are_fetched_one_at_a_time_until_an_answer()
      throws Exception {
    returning.markPutOff(SHOP);

    assertThat(returning.appsInLater()).containsExactly(SHOP);
    assertThat(returning.roomFor(SHOP)).isOne();
    assertThat(answersUntilThereIsRoomForMore()).isBetween(5, 8);
    assertThat(returning.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void messages_from_before_this_worker_take_no_permits_from_new_ones() throws Exception {
    returning.markPutOff(SHOP);

    assertThat(fill(SHOP)).isEqualTo(80);
  }

  @Test
  void messages_from_before_this_worker_for_a_silent_provider_are_fetched_one_at_a_time()
      throws Exception {
    returning.markPutOff(SHOP);
    for (int i = 0; i < 20; i++) {
      long acquired = nanos.get();
      acquire(SHOP);
      pass(Duration.ofSeconds(10));
      release(SHOP, acquired, false);
      assertThat(returning.roomFor(SHOP)).isOne();
    }
  }

  /// @return how many answers that took
  private int answersUntilThereIsRoomForMore() throws InterruptedException {
    int answered = 0;
    while (returning.roomFor(SHOP) == 1) {
      fetched(SHOP, 1);
      assertThat(returning.roomFor(SHOP)).isZero();
      returning.arrived(SHOP);
      assertThat(acquire(SHOP)).isTrue();
      assertThat(returning.roomFor(SHOP)).isZero();
      release(SHOP, nanos.get(), true);
      answered++;
    }
    return answered;
  }

  @Test
  void a_message_may_arrive_before_its_wave_is_fetched() {
    returning.putOff(SHOP);
    returning.expect(SHOP, 50);
    for (int i = 0; i < 20; i++) {
      returning.arrived(SHOP);
    }
    returning.fetched(SHOP, 50, 40);

    assertThat(returning.roomFor(SHOP)).as("besides the twenty expected").isEqualTo(60);
  }

  @Test
  void an_app_without_messages_is_asked_about_again_after_a_second() {
    returning.putOff(SHOP);
    assertThat(returning.roomFor(SHOP)).isEqualTo(80);
    fetchedNothing(SHOP);

    returning.putOff(SHOP);
    assertThat(returning.roomFor(SHOP)).isZero();
    pass(ReturningMessages.FETCH_AGAIN);
    assertThat(returning.roomFor(SHOP)).isEqualTo(80);
  }

  @Test
  void an_app_is_given_up_after_sixty_fetches_that_found_nothing() {
    returning.putOff(SHOP);
    for (int i = 0; i < ReturningMessages.EMPTY_FETCHES; i++) {
      assertThat(returning.appsInLater()).containsExactly(SHOP);
      fetchedNothing(SHOP);
      pass(ReturningMessages.FETCH_AGAIN);
    }

    assertThat(returning.appsInLater()).isEmpty();
    assertThat(returning.roomFor(SHOP)).isZero();
  }

  @Test
  void an_app_is_not_given_up_for_time_without_a_fetch() {
    returning.putOff(SHOP);
    pass(Duration.ofMinutes(5));
    fetchedNothing(SHOP);
    pass(Duration.ofMinutes(5));
    fetchedNothing(SHOP);
    assertThat(returning.appsInLater()).containsExactly(SHOP);

    pass(ReturningMessages.FETCH_AGAIN);
    fetched(SHOP, 1);
    for (int i = 1; i < ReturningMessages.EMPTY_FETCHES; i++) {
      fetchedNothing(SHOP);
    }
    assertThat(returning.appsInLater()).containsExactly(SHOP);
  }

  @Test
  void at_most_a_hundred_messages_a_second_come_back_unfetched() {
    List<Duration> back = putOff(SHOP, 60_000);

    assertThat(back.getFirst()).isEqualTo(ReturningMessages.SOONEST_BACK);
    assertThat(back.getLast()).isBetween(Duration.ofSeconds(899), Duration.ofSeconds(900));
    assertThat(putOff(SHOP, 3_000_000).getLast()).isEqualTo(ReturningMessages.LATEST_BACK);
    assertThat(returning.putOff(BANK)).as("another app").isEqualTo(ReturningMessages.SOONEST_BACK);
  }

  @Test
  void all_stuck_apps_share_the_pace_at_which_messages_come_back() throws Exception {
    fill(SHOP);
    fill(BANK);
    permits.refuseStuck();

    List<Duration> shop = putOff(SHOP, 20_000);
    List<Duration> bank = putOff(BANK, 20_000);

    assertThat(shop.getLast()).isGreaterThan(Duration.ofSeconds(360));
    assertThat(bank.getLast()).isGreaterThan(Duration.ofSeconds(360));
  }

  private List<Duration> putOff(AppId app, int many) {
    return IntStream.range(0, many).mapToObj(_ -> returning.putOff(app)).toList();
  }
}
