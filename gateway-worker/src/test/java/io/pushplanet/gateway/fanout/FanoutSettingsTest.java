package io.pushplanet.gateway.fanout;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class FanoutSettingsTest {
  @EnableConfigurationProperties(FanoutSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void the_defaults_are_these() {
    runner.run(context ->
        assertThat(context.getBean(FanoutSettings.class)).isEqualTo(new FanoutSettings(2)));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.fanout.max-step=1")
        .run(
            context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("max-step"));
  }
}
