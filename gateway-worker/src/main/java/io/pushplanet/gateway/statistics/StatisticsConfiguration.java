package io.pushplanet.gateway.statistics;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.gateway.intake.BatchHandler;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.intake.Subscription;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(StatisticsSettings.class)
@ForRole(Role.STATISTICS)
class StatisticsConfiguration {
  private static final Logger LOG = LoggerFactory.getLogger(StatisticsConfiguration.class);
  private static final Duration EVERY_HOUR = Duration.ofHours(1);

  @Bean
  StatisticsWriter statisticsWriter(DataSource database) {
    return new StatisticsWriter(database);
  }

  @Bean(destroyMethod = "close")
  StatisticsIntake statisticsIntake(
      StatisticsWriter writer,
      DeadLetters deadLetters,
      LanePublisher lanes,
      StatisticsSettings settings,
      Clock clock,
      MeterRegistry meters) {
    return new StatisticsIntake(
        writer,
        new RefusedEvents(deadLetters, clock, settings.refusedTimes(), settings.refusedFor()),
        new EarlyEvents(
            events -> lanes.publishAndWait(Topology.EARLY, events),
            clock,
            settings.earlyPause(),
            meters),
        settings.writing(),
        meters);
  }

  @Bean
  QueueConsumer events(
      ConnectionFactory connections,
      StatisticsIntake intake,
      StatisticsSettings settings,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    BatchHandler take = (body, redelivered, _) -> intake.take(body);
    List<Subscription> queues =
        List.of(
            new Subscription(Topology.ACCEPTED, settings.prefetch(), take),
            new Subscription(Topology.EVENTS, settings.prefetch(), take),
            new Subscription(
                Topology.EARLY,
                settings.earlyPrefetch(),
                (body, redelivered, _) -> intake.takeEarly(body)));
    // It does not rest while the broker takes no messages: it publishes little, and the messages
    // that it takes away make room.
    return new QueueConsumer(
        connections, "statistics", queues, () -> false, deadLetters, random, meters);
  }

  @Bean
  PeriodicTask dayPartitions(
      DataSource database, StatisticsSettings settings, MeterRegistry meters) {
    DayPartitions partitions = new DayPartitions(database, settings.retentionDays());
    return new PeriodicTask(
        "day-partitions",
        EVERY_HOUR,
        () -> {
          List<String> done = partitions.maintain();
          if (!done.isEmpty()) {
            LOG.info("event=day_partitions done=\"{}\"", String.join(", ", done));
          }
          return false;
        },
        meters);
  }

  @Bean
  PeriodicTask uplinkRetention(
      DataSource database, StatisticsSettings settings, MeterRegistry meters) {
    UplinkRetention retention = new UplinkRetention(database, settings.uplinkRetention());
    return new PeriodicTask("uplink-retention", EVERY_HOUR, retention::trim, meters);
  }

  @Bean
  PeriodicTask changeRetention(DataSource database, MeterRegistry meters) {
    ChangeRetention retention = new ChangeRetention(database);
    return new PeriodicTask("change-retention", EVERY_HOUR, retention::trim, meters);
  }

  @Bean
  PeriodicTask queuedSweeper(DataSource database, LanePublisher lanes, MeterRegistry meters) {
    QueuedSweeper sweeper = new QueuedSweeper(database, lanes);
    return new PeriodicTask(
        "queued-sweeper", EVERY_HOUR, lanes::takesNothing, sweeper::sweep, meters);
  }
}
