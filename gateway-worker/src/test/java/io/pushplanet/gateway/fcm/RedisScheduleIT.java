package io.pushplanet.gateway.fcm;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.gateway.fcm.Schedule.Answer;
import io.pushplanet.quickstart.services.LocalServices;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedisScheduleIT extends ScheduleContract {
  private final RedisClient client =
      RedisClient.create(LocalServices.forTests().redis().toString());
  private final RedisLink redis = RedisLink.open(client);
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final String project = "project-" + UUID.randomUUID();

  @AfterEach
  void close() {
    redis.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  @Override
  Schedule schedule() {
    return worker(redis, "one");
  }

  /// Redis' clock cannot be set, so all times that it keeps become earlier.
  @Override
  void pass(Duration time) {
    String key = "fcm-pace:{" + project + "}";
    var commands = redis.connection().sync();
    for (String field : List.of("next", "high", "from", "rest", "refused")) {
      String at = commands.hget(key, field);
      if (at != null) {
        BigDecimal earlier =
            new BigDecimal(at).subtract(BigDecimal.valueOf(time.toMillis() * 1_000));
        commands.hset(key, field, earlier.toPlainString());
      }
    }
  }

  private RedisSchedule worker(RedisLink link, String name) {
    return new RedisSchedule(
        link, project, name, PER_MINUTE, Clock.systemUTC(), new PaceMetrics(meters));
  }

  private double leases(boolean shared) {
    return meters
        .get("pushplanet.fcm.pace.leases")
        .tag("shared", Boolean.toString(shared))
        .counter()
        .count();
  }

  @Test
  void one_workers_places_are_not_given_to_another() {
    RedisSchedule one = worker(redis, "one");
    RedisSchedule other = worker(redis, "other");

    Answer first = one.take(Priority.NORMAL, 60, Schedule.LONGEST_WAIT);
    Answer second = other.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);

    assertThat(first).isInstanceOf(Answer.Places.class);
    // A minute's places are taken, and the test runs for a part of a minute at most.
    assertThat(second).isInstanceOf(Answer.None.class);
    assertThat(leases(true)).isEqualTo(2);
    assertThat(leases(false)).isZero();
  }

  @Test
  void a_refusal_for_one_worker_makes_all_rest() {
    RedisSchedule one = worker(redis, "one");
    RedisSchedule other = worker(redis, "other");
    one.take(Priority.NORMAL, 1, Schedule.LONGEST_WAIT);

    one.refused(Duration.ofSeconds(100));
    Answer answer = other.take(Priority.HIGH, 1, Schedule.LONGEST_WAIT);

    assertThat(answer)
        .isInstanceOfSatisfying(
            Answer.None.class,
            none ->
                assertThat(none.delay())
                    .isBetween(Duration.ofSeconds(30), Duration.ofSeconds(100)));
  }

  @Test
  void without_redis_a_worker_keeps_a_pace_of_its_own_and_the_meter_says_so() {
    RedisClient nowhere = RedisClient.create("redis://127.0.0.1:1");
    try (RedisLink away = RedisLink.open(nowhere)) {
      RedisSchedule alone = worker(away, "alone");
      List<Answer> answers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        answers.add(alone.take(Priority.NORMAL, 60, Schedule.LONGEST_WAIT));
      }

      assertThat(answers.getFirst()).isInstanceOf(Answer.Places.class);
      assertThat(answers.getLast()).isInstanceOf(Answer.None.class);
      assertThat(leases(false)).isEqualTo(2);
    } finally {
      nowhere.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
  }
}
