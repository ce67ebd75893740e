package io.pushplanet.gateway.later;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class LaterSettingsTest {
  @EnableConfigurationProperties(LaterSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void the_defaults_are_these() {
    runner.run(context ->
        assertThat(context.getBean(LaterSettings.class))
            .isEqualTo(new LaterSettings(Duration.ofMillis(250), Duration.ofSeconds(1))));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.later.perriod=1s")
        .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("perriod"));
  }
}
