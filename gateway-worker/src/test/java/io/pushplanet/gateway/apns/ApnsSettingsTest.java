package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.http2.ConnectionSettings;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

class ApnsSettingsTest {
  @Configuration(proxyBeanMethods = false)
  @EnableConfigurationProperties(ApnsSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void defaults_lead_to_apple() {
    runner.run(context ->
        assertThat(context.getBean(ApnsSettings.class))
            .isEqualTo(
                new ApnsSettings(
                    URI.create("https://api.push.apple.com:443"),
                    URI.create("https://api.sandbox.push.apple.com:443"),
                    URI.create("https://api-manage-broadcast.push.apple.com:2196"),
                    URI.create("https://api-manage-broadcast.sandbox.push.apple.com:2195"),
                    Duration.ofMillis(500),
                    Duration.ofSeconds(1),
                    null,
                    new ConnectionSettings(
                        16,
                        1_000,
                        2_000,
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(10),
                        Duration.ofMinutes(30),
                        Duration.ofMinutes(1),
                        Duration.ofSeconds(3)))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gateway.apns.production-endpoint",
        "gateway.apns.sandbox-endpoint",
        "gateway.apns.production-channels-endpoint",
        "gateway.apns.sandbox-channels-endpoint"
      })
  void an_address_without_https_stops_the_start(String setting) {
    runner
        .withPropertyValues(setting + "=localhost:99")
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining(setting + " must be https://"));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.apns.endpoint=https://localhost")
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining("gateway.apns.endpoint"));
  }
}
