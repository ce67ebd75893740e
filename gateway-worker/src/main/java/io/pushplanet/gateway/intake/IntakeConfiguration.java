package io.pushplanet.gateway.intake;

import com.rabbitmq.client.ConnectionFactory;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// What every role has.
@Configuration(proxyBeanMethods = false)
class IntakeConfiguration {
  /// Nobody waits for what a worker publishes but the broker's message that it came of. What ends a delivery should also not be
  /// faster than the news that its message was accepted, or it waits for that at its writer.
  private static final Duration LINGER = Duration.ofMillis(4);

  @Bean
  RedisLink redisLink(RedisClient client) {
    return RedisLink.open(client);
  }

  @Bean
  RouteStore routeStore(RedisLink link) {
    return new RouteStore(link);
  }

  @Bean
  SessionDirectory sessionDirectory(RedisLink link, Clock clock) {
    return new SessionDirectory(link, clock);
  }

  @Bean(destroyMethod = "close")
  LanePublisher lanePublisher(
      ConnectionFactory connections, SecureRandom random, MeterRegistry meters) {
    return new LanePublisher(
        connections, "worker", LanePublisher.Settings.DEFAULT.lingering(LINGER), random, meters);
  }

  @Bean
  DeadLetters deadLetters(ConnectionFactory connections, Clock clock) {
    return new DeadLetters(connections, clock);
  }
}
