package io.pushplanet.gateway.health;

import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.gateway.intake.QueueConsumer;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// The worker is ready while the broker, Redis and MySQL are. Each check answers within its
/// client's deadlines.
@Configuration(proxyBeanMethods = false)
class HealthConfiguration {
  private static final int SECONDS = 2;

  @Bean
  HealthIndicator mysqlHealthIndicator(DataSource database) {
    return () -> {
      try (Connection connection = database.getConnection()) {
        return said(connection.isValid(SECONDS), "MySQL does not answer");
      } catch (SQLException e) {
        return said(false, "MySQL cannot be reached");
      }
    };
  }

  @Bean
  HealthIndicator redisHealthIndicator(RedisLink redis) {
    return () -> said(redis.connected(), "Redis cannot be reached");
  }

  @Bean
  HealthIndicator brokerHealthIndicator(
      LanePublisher lanes, ObjectProvider<QueueConsumer> consumers) {
    // A worker with only the role `later` has no consumer.
    return () ->
        said(
            lanes.connected() && consumers.stream().allMatch(QueueConsumer::connected),
            "the message broker cannot be reached");
  }

  private static Health said(boolean up, String otherwise) {
    return up ? Health.up().build() : Health.down().withDetail("reason", otherwise).build();
  }
}
