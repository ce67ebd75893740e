package io.pushplanet.gateway.later;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.gateway.inbox.BroadcastSweeper;
import io.pushplanet.gateway.inbox.InboxSweeper;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import io.pushplanet.gateway.schedule.PeriodicTask;
import jakarta.validation.constraints.NotNull;
import java.time.Clock;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.validation.annotation.Validated;

/// While the broker takes no messages these tasks rest: they would hold their claimed rows until
/// publishing fails, in every round.
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(LaterConfiguration.LaterSettings.class)
@ForRole(Role.LATER)
class LaterConfiguration {
  /// @param period how often due rows are looked for
  /// @param sweep how often inboxes and broadcasts are searched for messages that have waited too
  ///     long
  @Validated
  @ConfigurationProperties(prefix = "gateway.later", ignoreUnknownFields = false)
  record LaterSettings(
      @NotNull @DefaultValue("250ms") Duration period,
      @NotNull @DefaultValue("1s") Duration sweep) {}

  @Bean
  PeriodicTask dueLane(
      DataSource database,
      LanePublisher lanes,
      LaterSettings settings,
      Clock clock,
      MeterRegistry meters) {
    DueLane due = new DueLane(database, lanes::publishAndWait, clock);
    return new PeriodicTask(
        "due-lane",
        settings.period(),
        lanes::takesNothing,
        () -> due.bringBack() >= DueLane.MAX_ROWS,
        meters);
  }

  @Bean
  PeriodicTask inboxSweeper(
      DataSource database,
      LanePublisher lanes,
      LaterSettings settings,
      Clock clock,
      MeterRegistry meters) {
    InboxSweeper sweeper = new InboxSweeper(database, lanes, clock);
    return new PeriodicTask(
        "inbox-sweeper",
        settings.sweep(),
        lanes::takesNothing,
        () -> sweeper.sweep() == InboxSweeper.MAX_ROWS,
        meters);
  }

  @Bean
  PeriodicTask broadcastSweeper(
      DataSource database,
      LanePublisher lanes,
      LaterSettings settings,
      Clock clock,
      MeterRegistry meters) {
    BroadcastSweeper sweeper = new BroadcastSweeper(database, lanes, clock);
    return new PeriodicTask(
        "broadcast-sweeper",
        settings.sweep(),
        lanes::takesNothing,
        () -> sweeper.sweep() == BroadcastSweeper.MAX_LISTS,
        meters);
  }
}
