package io.pushplanet.gateway.fcm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.fcm.Schedule.Answer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// What a [Schedule] promises, in Java and in Redis. The test may run slowly, but for less than ten
/// seconds in all.
abstract class ScheduleContract {
  /// At the whole rate ten messages leave in a second; at the first tenth of the rate, one.
  static final int PER_MINUTE = 606;

  private static final double WHOLE = 10;

  /// A schedule of which no place was taken, with a quota of [#PER_MINUTE].
  abstract Schedule schedule();

  /// Lets so much time go by for that schedule.
  abstract void pass(Duration time);

  @Test
  void a_project_starts_with_a_tenth_of_its_rate_and_climbs() {
    Answer answer = schedule().take(Priority.NORMAL, 60, Schedule.LONGEST_WAIT);

    assertThat(answer)
        .isInstanceOfSatisfying(
            Answer.Places.class,
            places -> {
              assertThat(places.messages()).isEqualTo(60);
              assertThat(places.gapNanos()).isBetween(900_000_000L, 1_001_000_000L);
              assertThat(places.outlook().now()).isBetween(0.99, 1.1);
              assertThat(places.outlook().most()).isCloseTo(WHOLE, within(0.01));
              assertThat(places.outlook().gain())
                  .isCloseTo(
                      WHOLE * (1 - Schedule.SLOWEST) / Schedule.RAMP.toSeconds(), within(0.001));
            });
  }

  @Test
  void a_place_is_given_once() {
    Schedule schedule = schedule();
    schedule.take(Priority.NORMAL, 60, Schedule.LONGEST_WAIT);

    Answer answer = schedule.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);

    assertThat(answer)
        .isInstanceOfSatisfying(
            Answer.None.class,
            none ->
                assertThat(none.delay()).isBetween(Duration.ofSeconds(50), Duration.ofSeconds(61)));
  }

  @Test
  void a_caller_that_waits_longer_gets_a_later_place() {
    Schedule schedule = schedule();
    schedule.take(Priority.NORMAL, 60, Schedule.LONGEST_WAIT);

    Answer answer = schedule.take(Priority.NORMAL, 1, Duration.ofSeconds(61));

    assertThat(answer)
        .isInstanceOfSatisfying(
            Answer.Places.class,
            places ->
                assertThat(places.startsIn())
                    .isBetween(Duration.ofSeconds(50), Duration.ofSeconds(61)));
  }

  @Test
  void high_leaves_beside_normal_and_takes_its_room() {
    Schedule schedule = schedule();
    schedule.take(Priority.NORMAL, 60, Schedule.LONGEST_WAIT);

    Answer high = schedule.take(Priority.HIGH, 10, Schedule.LONGEST_WAIT);
    Answer more = schedule.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);

    assertThat(high)
        .isInstanceOfSatisfying(
            Answer.Places.class,
            places -> {
              assertThat(places.gapNanos()).isBetween(99_000_000L, 101_000_000L);
              assertThat(places.outlook().now()).isCloseTo(WHOLE, within(0.01));
              assertThat(places.outlook().gain()).isZero();
            });
    assertThat(more)
        .isInstanceOfSatisfying(
            Answer.None.class,
            none ->
                assertThat(none.delay()).isBetween(Duration.ofSeconds(50), Duration.ofSeconds(71)));
  }

  @Test
  void no_message_leaves_while_the_project_rests() {
    Schedule schedule = schedule();
    schedule.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);

    schedule.refused(Duration.ofSeconds(100));
    schedule.refused(Duration.ofSeconds(5));
    Answer answer = schedule.take(Priority.HIGH, 1, Schedule.LONGEST_WAIT);

    assertThat(answer)
        .isInstanceOfSatisfying(
            Answer.None.class,
            none ->
                assertThat(none.delay())
                    .isBetween(Duration.ofSeconds(90), Duration.ofSeconds(100)));
  }

  @Test
  void after_a_refusal_the_rate_climbs_slowly() {
    Schedule schedule = schedule();
    schedule.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);

    schedule.refused(Duration.ZERO);
    Answer answer = schedule.take(Priority.NORMAL, 1, Duration.ofSeconds(10));

    assertClimb(answer, Schedule.CLIMB_PER_SECOND);
  }

  @Test
  void a_rest_that_google_asked_for_is_no_silence() {
    Schedule schedule = schedule();
    schedule.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);
    schedule.refused(Schedule.RAMP.plusSeconds(30));

    pass(Schedule.RAMP.plusSeconds(31));
    Answer answer = schedule.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);

    assertClimb(answer, Schedule.CLIMB_PER_SECOND);
  }

  @Test
  void after_a_minute_of_silence_the_rate_climbs_as_for_a_new_sender() {
    Schedule schedule = schedule();
    schedule.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);
    schedule.refused(Duration.ofSeconds(1));

    pass(Schedule.RAMP.plusSeconds(3));
    Answer answer = schedule.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);

    assertClimb(answer, (1 - Schedule.SLOWEST) / Schedule.RAMP.toSeconds());
  }

  /// @param gain of the whole rate, in a second
  private static void assertClimb(Answer answer, double gain) {
    assertThat(answer)
        .isInstanceOfSatisfying(
            Answer.Places.class,
            places -> assertThat(places.outlook().gain()).isCloseTo(WHOLE * gain, within(0.001)));
  }
}
