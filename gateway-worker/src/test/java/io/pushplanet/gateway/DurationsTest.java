package io.pushplanet.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.SettingsTable;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

/// The durations among the settings of all features.
class DurationsTest {
  @Configuration(proxyBeanMethods = false)
  @ConfigurationPropertiesScan
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withUserConfiguration(Wiring.class)
          .withPropertyValues("gateway.node.password=s3cret");

  @Test
  void each_duration_may_be_a_second() {
    runner
        .withPropertyValues(
            durations().stream().map(setting -> setting + "=1s").toArray(String[]::new))
        .run(context -> assertThat(context).hasNotFailed());
  }

  @ParameterizedTest
  @MethodSource("durations")
  void a_negative_duration_stops_the_start(String setting) {
    runner.withPropertyValues(setting + "=-1s").run(context -> assertThat(context).hasFailed());
  }

  static Set<String> durations() {
    return SettingsTable.durations("gateway-worker");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gateway.alerts.give-up-after",
        "gateway.alerts.period",
        "gateway.alerts.request-timeout",
        "gateway.apns.channels-period",
        "gateway.apns.connection.connect-timeout",
        "gateway.apns.connection.dead-after",
        "gateway.apns.connection.idle-timeout",
        "gateway.apns.connection.request-timeout",
        "gateway.apns.tokens-period",
        "gateway.credentials.expiry-period",
        "gateway.credentials.period",
        "gateway.hms.connect-timeout",
        "gateway.hms.idle-timeout",
        "gateway.hms.request-timeout",
        "gateway.later.period",
        "gateway.later.sweep",
        "gateway.node.answer-within",
        "gateway.statistics.early-pause",
        "gateway.webpush.connect-timeout",
        "gateway.webpush.idle-timeout",
        "gateway.webpush.request-timeout"
      })
  void a_duration_that_needs_some_time_is_not_0(String setting) {
    runner
        .withPropertyValues(setting + "=0s")
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("DurationMin"));
  }
}
