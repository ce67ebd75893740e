package io.pushplanet.dispatcher.lane;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.wire.LanePublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class LaneConfiguration {
  @Bean
  LanePublisher lanePublisher(ConnectionFactory connections, MeterRegistry meters) {
    return new LanePublisher(connections, "dispatcher", LanePublisher.Settings.DEFAULT, meters);
  }
}
