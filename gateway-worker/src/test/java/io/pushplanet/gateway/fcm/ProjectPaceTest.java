package io.pushplanet.gateway.fcm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.fcm.ProjectPace.Turn;
import io.pushplanet.gateway.time.SteadyClock;
import io.pushplanet.simulators.fcm.Quotas;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.junit.jupiter.api.Test;

class ProjectPaceTest {
  private static final int QUOTA = 600_000;

  /// The time that a message has left when its time to live does not end before its turn.
  private static final Duration LONG = Duration.ofDays(28);

  private final MutableClock clock = MutableClock.started();
  private final ProjectPace pace = new ProjectPace(QUOTA, clock);

  /// Per priority, whether a waiting worker was told to send.
  private final boolean[] quotaAsked = {false, false};

  /// The turn of a message that comes for the first time.
  private Turn turn(Priority priority) {
    return pace.turn(priority, false, LONG);
  }

  /// How many messages leave within so long, one after the other.
  private int leaving(Priority priority, Duration within) {
    int left = 0;
    Duration gone = Duration.ZERO;
    while (gone.compareTo(within) < 0) {
      Duration wait =
          switch (turn(priority)) {
            case Turn.After(Duration after) -> {
              left++;
              yield after;
            }
            case Turn.Rest(Duration rest) -> rest;
          };
      clock.advance(wait);
      gone = gone.plus(wait);
    }
    return left;
  }

  @Test
  void a_project_starts_with_a_tenth_of_its_quota_and_has_all_of_it_after_a_minute() {
    int first = leaving(Priority.NORMAL, Duration.ofSeconds(1));
    leaving(Priority.NORMAL, Duration.ofSeconds(59));
    int later = leaving(Priority.NORMAL, Duration.ofSeconds(10));

    assertThat(first).isBetween(1_000, 1_200);
    assertThat(later).isBetween(98_500, 99_500);
  }

  @Test
  void a_project_silent_for_more_than_a_minute_starts_anew() {
    leaving(Priority.NORMAL, Duration.ofSeconds(61));

    clock.advance(Duration.ofSeconds(61));

    assertThat(leaving(Priority.NORMAL, Duration.ofSeconds(1))).isLessThan(1_300);
  }

  @Test
  void high_does_not_wait_behind_normal_and_takes_its_room() {
    leaving(Priority.NORMAL, Duration.ofSeconds(61));
    while (turn(Priority.NORMAL) instanceof Turn.After) {
      // Until the waiting messages fill two seconds.
    }

    Turn high = turn(Priority.HIGH);
    Turn more = turn(Priority.NORMAL);

    assertThat(high).isEqualTo(new Turn.After(Duration.ZERO));
    assertThat(more).isInstanceOf(Turn.Rest.class);
  }

  @Test
  void a_project_rests_after_its_429_and_goes_on_slower() {
    leaving(Priority.NORMAL, Duration.ofSeconds(61));

    for (int i = 0; i < 100; i++) {
      pace.refused(Duration.ofSeconds(30));
    }
    Turn normal = turn(Priority.NORMAL);
    Turn high = turn(Priority.HIGH);
    clock.advance(Duration.ofSeconds(30));
    int after = leaving(Priority.NORMAL, Duration.ofSeconds(1));

    assertThat(normal).isEqualTo(new Turn.Rest(Duration.ofSeconds(30)));
    assertThat(high).isEqualTo(new Turn.Rest(Duration.ofSeconds(30)));
    // A hundred answers to requests that were under way together count as one refusal.
    assertThat(after).isBetween(6_800, 7_500);
  }

  @Test
  void one_answer_makes_a_project_rest_for_a_bounded_time_only() {
    pace.refused(Duration.ofDays(1));

    assertThat(turn(Priority.HIGH)).isEqualTo(new Turn.Rest(Duration.ofMinutes(15)));
  }

  @Test
  void it_climbs_slowly_after_a_refusal() {
    leaving(Priority.NORMAL, Duration.ofSeconds(61));
    pace.refused(Duration.ofSeconds(1));

    clock.advance(Duration.ofSeconds(1));
    int first = leaving(Priority.NORMAL, Duration.ofSeconds(1));
    leaving(Priority.NORMAL, Duration.ofSeconds(200));
    int later = leaving(Priority.NORMAL, Duration.ofSeconds(1));

    assertThat(first).isLessThan(7_500);
    assertThat(later).isGreaterThan(9_800);
  }

  @Test
  void two_workers_together_keep_within_the_bucket_and_use_it() {
    Schedule shared = new LocalSchedule(QUOTA, clock);
    List<ProjectPace> workers =
        List.of(new ProjectPace(shared, clock), new ProjectPace(shared, clock));
    Instant start = clock.instant();
    Instant[] free = {start, start};
    Quotas quotas = new Quotas(clock);
    int sent = 0;
    int refused = 0;

    // The first minute is the ramp; five more follow. Each worker always has a message to send.
    Instant ramped = start.plus(Schedule.RAMP);
    Instant end = start.plus(Duration.ofMinutes(6));
    while (clock.instant().isBefore(end)) {
      int who = free[0].isAfter(free[1]) ? 1 : 0;
      clock.advance(Duration.between(clock.instant(), free[who]));
      boolean leaves = free[who].isAfter(start) && quotaAsked[who];
      if (leaves) {
        if (quotas.countProject("broadcast").isPresent()) {
          refused++;
        } else if (clock.instant().isAfter(ramped)) {
          sent++;
        }
      }
      Turn turn = workers.get(who).turn(Priority.NORMAL, false, LONG);
      quotaAsked[who] = turn instanceof Turn.After;
      free[who] =
          clock
              .instant()
              .plus(
                  switch (turn) {
                    case Turn.After(Duration wait) -> wait;
                    case Turn.Rest(Duration wait) -> wait;
                  });
    }

    assertThat(refused).isZero();
    assertThat(sent).isGreaterThan((int) (5 * QUOTA * 0.95));
  }

  @Test
  void a_message_that_was_sent_away_is_not_overtaken() {
    leaving(Priority.NORMAL, Duration.ofSeconds(61));
    while (turn(Priority.NORMAL) instanceof Turn.After) {
      // Until the waiting messages fill a quarter of a second.
    }

    Turn first = null;
    Turn last = null;
    for (int i = 0; i < 10_000; i++) {
      last = turn(Priority.NORMAL);
      first = first == null ? last : first;
    }
    clock.advance(((Turn.Rest) first).delay());
    Turn newcomer = turn(Priority.NORMAL);
    Turn back = pace.turn(Priority.NORMAL, true, LONG);

    assertThat(((Turn.Rest) last).delay())
        .isBetween(Duration.ofMillis(1_000), Duration.ofMillis(1_500));
    assertThat(newcomer).isInstanceOf(Turn.Rest.class);
    assertThat(back).isInstanceOf(Turn.After.class);
  }

  /// Sends ten seconds' worth of messages away.
  private void sendAway(Duration left) {
    leaving(Priority.NORMAL, Duration.ofSeconds(61));
    while (turn(Priority.NORMAL) instanceof Turn.After) {
      // Until the waiting messages fill a quarter of a second.
    }
    for (int i = 0; i < 100_000; i++) {
      assertThat(pace.turn(Priority.NORMAL, false, left)).isInstanceOf(Turn.Rest.class);
    }
  }

  @Test
  void messages_that_do_not_come_back_hold_up_no_other() {
    sendAway(LONG);

    clock.advance(Duration.ofSeconds(1));
    assertThat(turn(Priority.NORMAL)).isInstanceOf(Turn.Rest.class);
    clock.advance(ProjectPace.LOST_AFTER);

    assertThat(turn(Priority.NORMAL)).isInstanceOf(Turn.After.class);
  }

  @Test
  void messages_are_not_overtaken_while_some_of_them_come_back() {
    sendAway(LONG);

    for (int second = 0; second < 8; second++) {
      clock.advance(Duration.ofSeconds(1));
      pace.turn(Priority.NORMAL, true, LONG);
    }

    assertThat(turn(Priority.NORMAL)).isInstanceOf(Turn.Rest.class);
  }

  @Test
  void a_message_due_after_the_projects_rest_is_not_taken_for_lost() {
    leaving(Priority.NORMAL, Duration.ofSeconds(61));
    pace.refused(Duration.ofSeconds(60));
    for (int i = 0; i < 100_000; i++) {
      turn(Priority.NORMAL);
    }

    clock.advance(Duration.ofSeconds(30));

    assertThat(((Turn.Rest) turn(Priority.NORMAL)).delay()).isGreaterThan(Duration.ofSeconds(38));
  }

  @Test
  void a_message_that_expires_before_its_turn_holds_up_no_other() {
    sendAway(Duration.ofMillis(100));

    clock.advance(Duration.ofSeconds(1));

    assertThat(turn(Priority.NORMAL)).isInstanceOf(Turn.After.class);
  }

  @Test
  void a_flood_that_was_sent_away_uses_the_quota_when_it_comes_back() {
    int perSecond = 1_000;
    int messages = 90_000;
    ProjectPace slow = new ProjectPace(60 * perSecond, clock);
    Instant start = clock.instant();
    // Messages from the queue, and those that `later` brings back four times a second.
    PriorityQueue<Coming> coming = new PriorityQueue<>(Comparator.comparing(Coming::at));
    for (int i = 0; i < messages; i++) {
      coming.add(new Coming(start.plusNanos(i * 200_000L), false));
    }
    List<Instant> left = new ArrayList<>();
    int sentAway = 0;
    while (!coming.isEmpty()) {
      Coming one = coming.remove();
      clock.advance(Duration.between(clock.instant(), one.at()));
      switch (slow.turn(Priority.NORMAL, one.back(), LONG)) {
        case Turn.After(Duration wait) -> left.add(one.at().plus(wait));
        case Turn.Rest(Duration wait) -> {
          sentAway++;
          coming.add(new Coming(nextLook(start, one.at().plus(wait)), true));
        }
      }
    }

    left.sort(null);
    long inTwentySeconds =
        left.stream()
            .filter(at -> at.isAfter(start.plusSeconds(65)) && at.isBefore(start.plusSeconds(85)))
            .count();
    assertThat(inTwentySeconds).isBetween(19_000L, 20_000L);
    // The ramp costs 27 s of the whole rate.
    assertThat(Duration.between(start, left.getLast())).isLessThan(Duration.ofSeconds(90 + 27 + 6));
    assertThat(sentAway).isLessThan(3 * messages / 2);
  }

  private record Coming(Instant at, boolean back) {}

  private static Instant nextLook(Instant start, Instant at) {
    long millis = Duration.between(start, at).toMillis();
    return start.plusMillis((millis / 250 + 1) * 250);
  }

  /// Its places were a hundred milliseconds ahead. By the time of day they would have been an hour
  /// and a hundred milliseconds ahead.
  @Test
  void a_project_does_not_rest_for_as_long_as_the_time_of_day_is_set_back() {
    ProjectPace steady = new ProjectPace(QUOTA, new SteadyClock(clock, () -> 0));
    for (int message = 0; message < 50; message++) {
      steady.turn(Priority.NORMAL, false, LONG);
    }

    clock.advance(Duration.ofHours(-1));

    Duration wait =
        switch (steady.turn(Priority.NORMAL, false, LONG)) {
          case Turn.After(Duration after) -> after;
          case Turn.Rest(Duration rest) -> rest;
        };
    assertThat(wait).isLessThan(Duration.ofSeconds(10));
  }
}
