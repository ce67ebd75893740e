package io.pushplanet.gateway.alert;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class AlertSettingsTest {
  @EnableConfigurationProperties(AlertSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void by_default_alerts_are_posted_nowhere() {
    runner.run(context ->
        assertThat(context.getBean(AlertSettings.class))
            .isEqualTo(
                new AlertSettings(
                    null,
                    new Secret(""),
                    Duration.ofSeconds(10),
                    Duration.ofDays(1),
                    Duration.ofSeconds(1))));
  }

  @Test
  void without_a_secret_nothing_is_posted_anywhere() {
    runner
        .withPropertyValues("gateway.alerts.webhook-url=https://example.com/alerts")
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("openssl rand"));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.alerts.webhook=https://example.com")
        .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("webhook"));
  }
}
