package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class StatisticsSettingsTest {
  @EnableConfigurationProperties(StatisticsSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void the_defaults_are_these() {
    runner.run(context ->
        assertThat(context.getBean(StatisticsSettings.class))
            .isEqualTo(
                new StatisticsSettings(
                    200,
                    32,
                    Duration.ofSeconds(1),
                    2,
                    Duration.ofMillis(100),
                    2_000,
                    Duration.ofMinutes(5),
                    10,
                    30,
                    Duration.ofDays(30))));
  }

  @Test
  void a_retention_that_keeps_no_uplink_stops_the_start() {
    runner
        .withPropertyValues("gateway.statistics.uplink-retention=0s")
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining("gateway.statistics.uplink-retention must be positive"));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.statistics.retention=1")
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("retention"));
  }
}
