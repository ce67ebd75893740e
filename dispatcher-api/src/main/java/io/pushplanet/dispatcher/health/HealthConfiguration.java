package io.pushplanet.dispatcher.health;

import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.redis.RedisLink;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// The health of this process. The first three indicators answer within the deadlines of their
/// clients and make up `/actuator/health`. The process is ready while it has the broker: without
/// MySQL or Redis it still accepts what it can. All other dispatchers lack the same server at such
/// a time, so if load balancers left out those that are not healthy, no dispatcher would be left.
/// Before it is ready for the first time, it must have reached MySQL and Redis, because until then
/// it knows no key.
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
  HealthIndicator brokerHealthIndicator(LanePublisher lanes) {
    return () -> said(lanes.connected(), "the message broker cannot be reached");
  }

  @Bean
  HealthIndicator startHealthIndicator(
      @Qualifier("mysqlHealthIndicator") HealthIndicator mysql,
      @Qualifier("redisHealthIndicator") HealthIndicator redis) {
    AtomicBoolean over = new AtomicBoolean();
    return () -> {
      if (!over.get() && isUp(mysql) && isUp(redis)) {
        over.set(true);
      }
      return said(over.get(), "MySQL and Redis have not been there together yet");
    };
  }

  private static boolean isUp(HealthIndicator server) {
    Health health = server.health();
    return health != null && health.getStatus().equals(Status.UP);
  }

  private static Health said(boolean up, String otherwise) {
    return up ? Health.up().build() : Health.down().withDetail("reason", otherwise).build();
  }
}
