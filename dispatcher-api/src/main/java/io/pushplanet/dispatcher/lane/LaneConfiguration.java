package io.pushplanet.dispatcher.lane;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import java.security.SecureRandom;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class LaneConfiguration {
  /// How long messages that are on their way wait once the broker stops taking messages. Later
  /// requests wait as long for a 503.
  private static final Duration BLOCKED_WITHIN = Duration.ofMillis(500);

  @Bean
  LanePublisher lanePublisher(
      ConnectionFactory connections, SecureRandom random, MeterRegistry meters) {
    return new LanePublisher(
        connections,
        "dispatcher",
        LanePublisher.Settings.DEFAULT.blockedWithin(BLOCKED_WITHIN),
        random,
        meters);
  }
}
