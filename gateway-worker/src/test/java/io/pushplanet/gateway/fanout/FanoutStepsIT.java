package io.pushplanet.gateway.fanout;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.FanoutOrder;
import io.pushplanet.quickstart.services.LocalServices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FanoutStepsIT {
  private final MutableClock clock = MutableClock.started();
  private final RedisClient client =
      RedisClient.create(LocalServices.forTests().redis().toString());
  private final RedisLink redis = RedisLink.open(client);
  private final FanoutSteps steps = new FanoutSteps(redis, clock);
  private final FanoutOrder order = new FanoutOrder(aPush(clock).build(), new Audience.All(), null);
  private final List<FanoutOrder> expanded = new ArrayList<>();

  @AfterEach
  void close() {
    redis.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  @Test
  void a_second_order_for_a_step_that_is_under_way_is_left_out() {
    steps.take(
        order,
        false,
        first -> {
          expanded.add(first);
          steps.take(order, false, expanded::add);
        });

    assertThat(expanded).containsExactly(order);
  }

  @Test
  void an_order_whose_worker_is_gone_is_expanded_again_until_it_is_done() {
    // Its worker begins and is killed without another word.
    steps.take(
        order,
        false,
        _ -> {
          steps.take(order, true, expanded::add);
          steps.take(order, true, expanded::add);
        });

    assertThat(expanded).containsExactly(order);
  }

  @Test
  void a_step_that_failed_may_begin_again_by_any_order() {
    assertThatThrownBy(() ->
            steps.take(
                order,
                false,
                _ -> {
                  throw new IllegalStateException("MySQL is away");
                }))
        .isInstanceOf(IllegalStateException.class);

    steps.take(order, false, expanded::add);

    assertThat(expanded).containsExactly(order);
  }

  /// Its worker died for good, and an operator replays an order from the dead letters.
  @Test
  void a_step_that_began_long_ago_and_is_not_done_may_begin_again() {
    steps.take(
        order,
        false,
        _ -> {
          clock.advance(Duration.ofMinutes(11));
          steps.take(order, false, expanded::add);
        });

    assertThat(expanded).containsExactly(order);
  }

  @Test
  void a_steps_page_ends_where_the_first_worker_ended_it() {
    assertThat(steps.end(order)).isEmpty();

    assertThat(steps.fixEnd(order, new DeviceId("d5"))).isEqualTo(new DeviceId("d5"));

    assertThat(steps.fixEnd(order, new DeviceId("d4"))).isEqualTo(new DeviceId("d5"));
    assertThat(steps.end(order)).contains(new DeviceId("d5"));
  }

  @Test
  void without_redis_every_order_is_expanded() {
    RedisClient nobody = RedisClient.create("redis://127.0.0.1:1");
    try (RedisLink away = RedisLink.open(nobody)) {
      FanoutSteps alone = new FanoutSteps(away, clock);

      alone.take(order, false, expanded::add);
      alone.take(order, false, expanded::add);
    } finally {
      nobody.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }

    assertThat(expanded).hasSize(2);
  }
}
