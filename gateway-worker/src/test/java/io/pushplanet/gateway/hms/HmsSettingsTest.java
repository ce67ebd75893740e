package io.pushplanet.gateway.hms;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

class HmsSettingsTest {
  @Configuration(proxyBeanMethods = false)
  @EnableConfigurationProperties(HmsSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void defaults_lead_to_huawei() {
    runner.run(context -> {
      HmsSettings settings = context.getBean(HmsSettings.class);
      assertThat(settings.endpoint()).isEqualTo(URI.create("https://push-api.cloud.huawei.com"));
      assertThat(settings.tokenEndpoint())
          .isEqualTo(URI.create("https://oauth-login.cloud.huawei.com/oauth2/v3/token"));
      assertThat(settings.trustedCertificates()).isNull();
      assertThat(settings.connections()).isEqualTo(64);
      assertThat(settings.connectTimeout()).isEqualTo(Duration.ofSeconds(5));
      assertThat(settings.requestTimeout()).isEqualTo(Duration.ofSeconds(10));
      assertThat(settings.idleTimeout()).isEqualTo(Duration.ofMinutes(1));
    });
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.hms.endpont=https://localhost")
        .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("endpont"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://localhost", "localhost:8443", "localhost"})
  void an_endpoint_without_https_stops_the_start(String endpoint) {
    runner
        .withPropertyValues("gateway.hms.endpoint=" + endpoint)
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining("gateway.hms.endpoint begins with https://"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gateway.hms.endpoint=https:///v1",
        "gateway.hms.token-endpoint=http://oauth-login.example.com"
      })
  void an_address_without_a_host_or_https_stops_the_start(String setting) {
    runner
        .withPropertyValues(setting)
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining(setting.split("=")[0] + " must be https://"));
  }
}
