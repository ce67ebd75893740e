package io.pushplanet.gateway;

import com.rabbitmq.client.ConnectionFactory;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// The beans that every role needs.
@Configuration(proxyBeanMethods = false)
class WorkerConfiguration {
  /// No caller waits for what a worker publishes; only the AMQP message that it came from does.
  /// Besides, if the end of a delivery overtook the event of its acceptance, it would wait for that
  /// event in the statistics role.
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
}
