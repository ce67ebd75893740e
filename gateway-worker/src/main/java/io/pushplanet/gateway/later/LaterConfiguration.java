package io.pushplanet.gateway.later;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.gateway.inbox.BroadcastSweeper;
import io.pushplanet.gateway.inbox.InboxSweeper;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.time.Clock;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// While the broker takes no messages these tasks rest: they would hold their claimed rows until
/// publishing fails, in every round.
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(LaterSettings.class)
@ForRole(Role.LATER)
class LaterConfiguration {
  @Bean
  PeriodicTask dueRows(
      DataSource database,
      LanePublisher lanes,
      LaterSettings settings,
      Clock clock,
      MeterRegistry meters) {
    DueRows due = new DueRows(database, lanes::publishAndWait, clock);
    return new PeriodicTask(
        "due-lane",
        settings.period(),
        lanes::takesNothing,
        () -> due.bringBack() >= DueRows.MAX_ROWS,
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
