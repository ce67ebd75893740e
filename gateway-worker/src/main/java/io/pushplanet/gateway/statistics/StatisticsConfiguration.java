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
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.validation.annotation.Validated;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(StatisticsConfiguration.StatisticsSettings.class)
@ForRole(Role.STATISTICS)
class StatisticsConfiguration {
  private static final Logger LOG = LoggerFactory.getLogger(StatisticsConfiguration.class);
  private static final Duration EVERY_HOUR = Duration.ofHours(1);

  /// @param prefetch AMQP messages in hand, of `push.accepted` and of `push.events`
  /// @param earlyPrefetch AMQP messages in hand of `push.early`: receipts that came before their
  ///     deliveries or that a device made up, and uplinks of an app while others of it are being
  ///     written
  /// @param earlyPause how long an event in `push.early` waits for its next try
  /// @param writers transactions at once; each takes a connection of the database's pool
  /// @param gather how long events may wait for others to be written with
  /// @param maxEvents events written in one transaction
  /// @param refusedFor how long the database must have refused an event before it is buried in the
  ///     dead letters. Meanwhile its AMQP message goes round
  /// @param refusedTimes how often the database must also have refused an event before it is buried
  ///     in the dead letters
  /// @param retentionDays whole days of messages, deliveries and statistics kept before today
  /// @param uplinkRetention older uplinks are deleted, whether the app's backend has read
  ///     them or not
  @Validated
  @ConfigurationProperties(prefix = "gateway.statistics", ignoreUnknownFields = false)
  record StatisticsSettings(
      @Positive @DefaultValue("200") int prefetch,
      @Positive @DefaultValue("32") int earlyPrefetch,
      @NotNull @DefaultValue("1s") Duration earlyPause,
      @Positive @DefaultValue("2") int writers,
      @NotNull @DefaultValue("100ms") Duration gather,
      @Positive @DefaultValue("2000") int maxEvents,
      @NotNull @DefaultValue("5m") Duration refusedFor,
      @Positive @DefaultValue("10") int refusedTimes,
      @Positive @DefaultValue("30") int retentionDays,
      @NotNull @DefaultValue("30d") Duration uplinkRetention) {
    @AssertTrue(message = "gateway.statistics.uplink-retention must be positive")
    boolean isUplinkKept() {
      return uplinkRetention.isPositive();
    }
  }

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
        settings.writers(),
        settings.gather(),
        settings.maxEvents(),
        settings.prefetch(),
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
  PeriodicTask queuedSweeper(DataSource database, LanePublisher lanes, MeterRegistry meters) {
    QueuedSweeper sweeper = new QueuedSweeper(database, lanes);
    return new PeriodicTask(
        "queued-sweeper", EVERY_HOUR, lanes::takesNothing, sweeper::sweep, meters);
  }
}
