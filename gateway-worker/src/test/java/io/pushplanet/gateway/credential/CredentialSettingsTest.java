package io.pushplanet.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class CredentialSettingsTest {
  @EnableConfigurationProperties(CredentialSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void the_end_of_a_credential_is_told_four_times() {
    runner.run(context ->
        assertThat(context.getBean(CredentialSettings.class))
            .isEqualTo(
                new CredentialSettings(
                    Duration.ofMillis(500), Duration.ofSeconds(15), List.of(30, 14, 7, 1))));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.credentials.expiry-days=30")
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("expiry-days"));
  }
}
