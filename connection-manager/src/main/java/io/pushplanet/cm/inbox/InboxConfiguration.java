package io.pushplanet.cm.inbox;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.transport.Heap;
import io.pushplanet.cm.uplink.EventPublisher;
import java.time.Clock;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class InboxConfiguration {
  @Bean(destroyMethod = "close")
  Inbox inbox(
      DataSource database,
      EventPublisher events,
      Clock clock,
      InboxSettings settings,
      Heap heap,
      MeterRegistry meters) {
    return new Inbox(database, events, clock, settings, heap::isFull, meters);
  }
}
