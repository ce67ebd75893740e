package io.pushplanet.gateway.fanout;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.FanoutOrder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.intake.BatchHandler;
import io.pushplanet.gateway.intake.DeadItems;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.intake.Subscription;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(FanoutSettings.class)
@ForRole(Role.FANOUT)
class FanoutConfiguration {
  @Bean
  Fanout fanout(
      DataSource database,
      SessionDirectory sessions,
      FanoutSteps steps,
      LanePublisher lanes,
      Clock clock,
      MeterRegistry meters) {
    return new Fanout(database, sessions, steps, lanes, clock, meters);
  }

  @Bean
  FanoutSteps fanoutSteps(RedisLink redis, Clock clock) {
    return new FanoutSteps(redis, clock);
  }

  @Bean
  QueueConsumer fanoutOrders(
      ConnectionFactory connections,
      Fanout fanout,
      FanoutSteps steps,
      FanoutSettings settings,
      LanePublisher lanes,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    BatchHandler expand =
        (body, redelivered, _) -> {
          List<DeadItem> dead = new ArrayList<>();
          steps.takeEach(
              WireForm.readBatch(body, FanoutOrder.class, dead::add),
              redelivered,
              step -> fanout.expand(step, redelivered));
          DeadItems.throwIfAny(dead);
        };
    List<Subscription> orders =
        List.of(
            new Subscription(Topology.fanout(Priority.HIGH), settings.prefetch(), expand),
            new Subscription(Topology.fanout(Priority.NORMAL), settings.prefetch(), expand));
    return new QueueConsumer(
        connections, "fanout", orders, lanes::takesNothing, deadLetters, random, meters);
  }
}
