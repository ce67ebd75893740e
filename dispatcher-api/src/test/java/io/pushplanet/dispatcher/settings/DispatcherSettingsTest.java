package io.pushplanet.dispatcher.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
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
                    0)));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("dispatcher.mqtt-hots=h")
        .run(context -> assertThat(context).hasFailed());
  }
}
