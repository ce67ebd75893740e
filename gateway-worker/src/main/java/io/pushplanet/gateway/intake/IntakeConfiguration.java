package io.pushplanet.gateway.intake;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class IntakeConfiguration {
  @Bean
  DeadLetters deadLetters(ConnectionFactory connections, Clock clock, MeterRegistry meters) {
    return new DeadLetters(connections, clock, meters);
  }
}
