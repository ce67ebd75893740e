package io.pushplanet.gateway.fcm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

class FcmSettingsTest {
  @Configuration(proxyBeanMethods = false)
  @EnableConfigurationProperties(FcmSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void defaults_lead_to_google() {
    runner.run(context -> {
      FcmSettings settings = context.getBean(FcmSettings.class);
      assertThat(settings.endpoint()).isEqualTo(URI.create("https://fcm.googleapis.com"));
      assertThat(settings.messagesPerMinute()).isEqualTo(600_000);
      assertThat(settings.quarterHourMargin()).isEqualTo(Duration.ofMinutes(2));
      assertThat(settings.quarterHourSpread()).isEqualTo(Duration.ofMinutes(5));
      assertThat(settings.bulkRecipients()).isEqualTo(10_000);
      assertThat(settings.tokenEndpoint()).isNull();
      assertThat(settings.trustedCertificates()).isNull();
    });
  }

  @Test
  void a_margin_that_leaves_no_time_to_send_stops_the_start() {
    runner
        .withPropertyValues("gateway.fcm.quarter-hour-margin=450s")
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining("gateway.fcm.quarter-hour-margin"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gateway.fcm.endpoint=ftp://localhost",
        "gateway.fcm.endpoint=http://fcm.example.com",
        "gateway.fcm.token-endpoint=foo",
        "gateway.fcm.token-endpoint=http://oauth2.example.com/token"
      })
  void an_address_without_https_stops_the_start(String setting) {
    runner
        .withPropertyValues(setting)
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining(setting.split("=")[0] + " must be https://"));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.fcm.endpont=https://localhost")
        .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("endpont"));
  }
}
