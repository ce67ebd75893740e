package io.pushplanet.dispatcher.settings;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.SettingsTable;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class DispatcherSettingsTest {
  @EnableConfigurationProperties(DispatcherSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void the_defaults_are_these() {
    runner.run(context ->
        assertThat(context.getBean(DispatcherSettings.class))
            .isEqualTo(
                new DispatcherSettings(
                    "127.0.0.1",
                    1883,
                    8883,
                    Duration.ofDays(90),
                    Duration.ofHours(12),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(20),
                    Duration.ofMillis(500),
                    Duration.ofHours(24),
                    0)));
  }

  @ParameterizedTest
  @MethodSource("durations")
  void a_negative_duration_stops_the_start(String setting) {
    runner.withPropertyValues(setting + "=-1s").run(context -> assertThat(context).hasFailed());
  }

  static Set<String> durations() {
    return SettingsTable.durations("dispatcher-api");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "credential-validity",
        "key-cache",
        "body-within",
        "session-flush",
        "idempotency-kept"
      })
  void a_duration_that_needs_some_time_is_not_0(String setting) {
    runner
        .withPropertyValues("dispatcher." + setting + "=0s")
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("DurationMin"));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("dispatcher.mqtt-hots=h")
        .run(context -> assertThat(context).hasFailed());
  }
}
