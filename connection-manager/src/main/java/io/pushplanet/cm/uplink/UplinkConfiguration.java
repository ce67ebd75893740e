package io.pushplanet.cm.uplink;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.node.NodeId;
import java.security.SecureRandom;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class UplinkConfiguration {
  @Bean(destroyMethod = "close")
  LanePublisher lanePublisher(
      ConnectionFactory connections, NodeId nodeId, SecureRandom random, MeterRegistry meters) {
    return new LanePublisher(
        connections, "cm-" + nodeId, LanePublisher.Settings.DEFAULT, random, meters);
  }

  @Bean(destroyMethod = "close")
  EventPublisher eventPublisher(
      LanePublisher lanePublisher,
      UplinkSettings settings,
      SecureRandom random,
      MeterRegistry meters) {
    return new EventPublisher(lanePublisher, settings.maxOpen(), random, meters);
  }

  @Bean
  UplinkMetrics uplinkMetrics(MeterRegistry meters) {
    return new UplinkMetrics(meters);
  }

  @Bean
  Uplinks uplinks(
      EventPublisher events,
      UplinkSettings settings,
      Clock clock,
      SecureRandom random,
      UplinkMetrics metrics) {
    return new Uplinks(events, settings.bytes(), settings.inFlight(), clock, random, metrics);
  }
}
