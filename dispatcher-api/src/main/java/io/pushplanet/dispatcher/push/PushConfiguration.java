package io.pushplanet.dispatcher.push;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.wire.LanePublisher;
import java.security.SecureRandom;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class PushConfiguration {
  @Bean
  LanePublisher lanePublisher(ConnectionFactory connections, MeterRegistry meters) {
    return new LanePublisher(connections, "dispatcher", LanePublisher.Settings.DEFAULT, meters);
  }

  @Bean
  MessageIds messageIds(Clock clock, SecureRandom random) {
    return new MessageIds(clock, random);
  }
}
