package io.pushplanet.gateway.webpush;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

class WebPushSettingsTest {
  @Configuration(proxyBeanMethods = false)
  @EnableConfigurationProperties(WebPushSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void by_default_every_public_host_is_asked_and_no_private_one() {
    runner.run(context -> {
      WebPushSettings settings = context.getBean(WebPushSettings.class);
      assertThat(settings.allowedHosts()).isEmpty();
      assertThat(settings.trustedOrigins()).isEmpty();
      assertThat(settings.trustedCertificates()).isNull();
      assertThat(settings.connectionsPerHost()).isEqualTo(32);
      assertThat(settings.connections()).isEqualTo(256);
      assertThat(settings.requestTimeout()).isEqualTo(Duration.ofSeconds(10));
    });
  }

  @Test
  void hosts_and_origins_are_lists() {
    runner
        .withPropertyValues(
            "gateway.webpush.allowed-hosts=a.net,*.b.net",
            "gateway.webpush.trusted-origins=https://localhost:1")
        .run(context -> {
          WebPushSettings settings = context.getBean(WebPushSettings.class);
          assertThat(settings.allowedHosts()).containsExactly("a.net", "*.b.net");
          assertThat(settings.trustedOrigins()).hasSize(1);
        });
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.webpush.allowed-host=a.net")
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("allowed-host"));
  }
}
