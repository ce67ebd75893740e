package io.pushplanet.dispatcher.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

class HealthConfigurationTest {
  private final AtomicReference<Health> mysql = new AtomicReference<>(Health.down().build());
  private final AtomicReference<Health> redis = new AtomicReference<>(Health.up().build());
  private final HealthIndicator start =
      new HealthConfiguration().startHealthIndicator(mysql::get, redis::get);

  @Test
  void a_dispatcher_that_has_just_started_is_not_ready_without_a_server() {
    assertThat(status()).isEqualTo(Status.DOWN);

    mysql.set(Health.up().build());
    redis.set(Health.down().build());

    assertThat(status()).isEqualTo(Status.DOWN);
  }

  @Test
  void a_dispatcher_that_was_ready_stays_ready_while_a_server_is_away() {
    mysql.set(Health.up().build());
    assertThat(status()).isEqualTo(Status.UP);

    mysql.set(Health.down().build());
    redis.set(Health.down().build());

    assertThat(status()).isEqualTo(Status.UP);
  }

  private Status status() {
    return start.health().getStatus();
  }
}
