package io.pushplanet.gateway.alert;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class AlertSettingsTest {
  private static final String MAIL =
      "host=mail.example.com from=alerts@example.com to=ops@example.com ";

  @EnableConfigurationProperties(AlertSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withUserConfiguration(Wiring.class);

  @Test
  void by_default_alerts_are_sent_nowhere_and_kept_for_90_days() {
    runner.run(context ->
        assertThat(context.getBean(AlertSettings.class))
            .isEqualTo(
                new AlertSettings(
                    null,
                    new Secret(""),
                    new MailSettings(
                        "",
                        587,
                        MailSettings.Security.STARTTLS,
                        "",
                        new Secret(""),
                        "",
                        List.of(),
                        null),
                    Duration.ofSeconds(10),
                    Duration.ofDays(1),
                    Duration.ofSeconds(1),
                    Duration.ofDays(90))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"foo", "example.com/alerts", "ftp://example.com/alerts"})
  void a_webhook_that_is_no_web_address_stops_the_start(String url) {
    runner
        .withPropertyValues(
            "gateway.alerts.webhook-url=" + url, "gateway.alerts.webhook-secret=" + key(32))
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining("gateway.alerts.webhook-url must be https:// or http://"));
  }

  @ParameterizedTest
  @MethodSource("unfitSecrets")
  void a_webhook_without_a_secret_of_24_to_64_bytes_stops_the_start(String secret) {
    posting(secret)
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining(
                    "gateway.alerts.webhook-secret must be 24 to 64 bytes in base64"));
  }

  static List<String> unfitSecrets() {
    return List.of("", "abc", "not base64", key(23), key(65));
  }

  @Test
  void a_webhook_is_signed_with_the_secrets_bytes() {
    for (int bytes : new int[] {24, 64}) {
      for (String secret : List.of(key(bytes), "whsec_" + key(bytes))) {
        posting(secret)
            .run(context ->
                assertThat(context.getBean(AlertSettings.class).webhookKey())
                    .isEqualTo(new byte[bytes]));
      }
    }
  }

  private ApplicationContextRunner posting(String secret) {
    return runner.withPropertyValues(
        "gateway.alerts.webhook-url=https://example.com/alerts",
        "gateway.alerts.webhook-secret=" + secret);
  }

  private static String key(int bytes) {
    return Base64.getEncoder().encodeToString(new byte[bytes]);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "host=mail.example.com",
        "to=ops@example.com",
        "from=alerts@example.com",
        "host=mail.example.com from=alerts@example.com",
        "host=mail.example.com to=ops@example.com"
      })
  void half_a_mail_server_stops_the_start(String half) {
    started(half, "host, from and to belong together");
  }

  @ParameterizedTest
  @ValueSource(strings = {"user=alerts", "password=secret"})
  void half_a_login_stops_the_start(String half) {
    started(MAIL + half, "user and password belong together");
  }

  @ParameterizedTest
  @ValueSource(strings = {"to=ops", "from=alerts@", "to=ops@example.com,second"})
  void a_malformed_address_stops_the_start(String wrong) {
    started(MAIL + wrong, "must be addresses such as");
  }

  @Test
  void a_complete_mail_server_is_accepted() {
    started(MAIL + "user=alerts password=secret port=25 security=none", "");
  }

  private void started(String settings, String problem) {
    runner
        .withPropertyValues(
            Arrays.stream(settings.split(" "))
                .map(setting -> "gateway.alerts.mail." + setting)
                .toArray(String[]::new))
        .run(context -> {
          if (problem.isEmpty()) {
            assertThat(context.getBean(AlertSettings.class).channels())
                .containsExactly(AlertChannel.Name.MAIL);
          } else {
            assertThat(context.getStartupFailure()).hasStackTraceContaining(problem);
          }
        });
  }

  @Test
  void alerts_are_not_deleted_before_they_are_given_up() {
    runner
        .withPropertyValues("gateway.alerts.retention=1h")
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("give-up-after"));
  }

  @Test
  void a_misspelt_mail_setting_stops_the_start() {
    started("hots=mail.example.com", "hots");
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.alerts.webhook=https://example.com")
        .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("webhook"));
  }
}
