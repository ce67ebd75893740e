package io.pushplanet.gateway.fanout;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.gateway.fcm.FcmQuota;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(FanoutSettings.class)
@ForRole(Role.FANOUT)
class FanoutConfiguration {
  /// How long an order waits for a lane or a quota that is no longer full.
  private static final Duration LOOK = Duration.ofMillis(100);

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
  LaneDepths laneDepths(ConnectionFactory connections) {
    return new LaneDepths(connections);
  }

  @Bean
  QuotaQueues quotaQueues(DataSource database, FcmQuota quota, Clock clock) {
    return new QuotaQueues(new LaterStore(database), quota, clock, System::nanoTime);
  }

  @Bean
  FanoutOrders fanoutOrders(
      Fanout fanout,
      FanoutSteps steps,
      LaneDepths depths,
      QuotaQueues quotas,
      LanePublisher lanes,
      FanoutSettings settings,
      MeterRegistry meters) {
    return new FanoutOrders(
        fanout::expand,
        steps,
        depths,
        quotas,
        lanes,
        settings.maxSteps(),
        FanoutOrders.LONGEST_WAIT,
        meters);
  }

  @Bean
  QueueConsumer fanoutConsumer(
      ConnectionFactory connections,
      FanoutOrders orders,
      LanePublisher lanes,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    return new QueueConsumer(
        connections,
        "fanout",
        orders.subscriptions(),
        lanes::takesNothing,
        deadLetters,
        random,
        meters);
  }

  @Bean
  PeriodicTask looksAtPassages(FanoutOrders orders, MeterRegistry meters) {
    return new PeriodicTask(
        "passages",
        LOOK,
        () -> {
          orders.look();
          return false;
        },
        meters);
  }
}
