package io.pushplanet.common.settings;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.settings.PlatformSettings.Amqp;
import io.pushplanet.common.settings.PlatformSettings.Mysql;
import io.pushplanet.common.settings.PlatformSettings.Redis;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.SystemEnvironmentPropertySource;

class PlatformSettingsTest {
  @EnableConfigurationProperties(PlatformSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withUserConfiguration(Wiring.class)
          .withPropertyValues("pushplanet.master-key=k3y");

  @Test
  void the_defaults_fit_one_machine() {
    runner.run(context ->
        assertThat(context.getBean(PlatformSettings.class))
            .isEqualTo(
                new PlatformSettings(
                    new Mysql(
                        "jdbc:mysql://127.0.0.1:3306/pushplanet",
                        "pushplanet",
                        new Secret(""),
                        10,
                        Duration.ofSeconds(30)),
                    new Redis(new Secret("redis://127.0.0.1:6379")),
                    new Amqp(new Secret("amqp://guest:guest@127.0.0.1:5672/%2f")),
                    new Secret("k3y"),
                    List.of()))
            .asString()
            .doesNotContain("k3y", "guest"));
  }

  @Test
  void without_a_master_key_nothing_starts() {
    new ApplicationContextRunner()
        .withUserConfiguration(Wiring.class)
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining(
                    "pushplanet.master-key is missing: openssl rand -base64 32"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "pushplanet.redis.uri=bar",
        "pushplanet.redis.uri=http://127.0.0.1:6379",
        "pushplanet.redis.uri=redis://:p^ssw0rd@127.0.0.1:6379",
        "pushplanet.amqp.uri=bar",
        "pushplanet.amqp.uri=amqp://guest:p^ssw0rd@127.0.0.1:5672"
      })
  void a_malformed_uri_stops_the_start_and_is_told_without_its_password(String setting) {
    runner
        .withPropertyValues(setting)
        .run(context ->
            assertThat(context.getStartupFailure())
                .rootCause()
                .message()
                .startsWith(setting.split("=")[0] + " must be such as ")
                .doesNotContain("p^ssw0rd"));
  }

  @Test
  void an_environment_variable_drops_or_replaces_dashes() {
    for (String variable : List.of("PUSHPLANET_MASTERKEY", "PUSHPLANET_MASTER_KEY")) {
      inEnvironment(variable)
          .run(context ->
              assertThat(context.getBean(PlatformSettings.class).masterKey())
                  .isEqualTo(new Secret("k3y")));
    }
  }

  @Test
  void a_misspelt_environment_variable_is_not_noticed() {
    inEnvironment("PUSHPLANET_MASTER_KEY", "PUSHPLANET_MYSQL_POL_SIZE")
        .run(context ->
            assertThat(context.getBean(PlatformSettings.class).mysql().poolSize()).isEqualTo(10));
  }

  private static ApplicationContextRunner inEnvironment(String... variables) {
    Map<String, Object> environment = new TreeMap<>();
    for (String variable : variables) {
      environment.put(variable, "k3y");
    }
    return new ApplicationContextRunner()
        .withUserConfiguration(Wiring.class)
        .withInitializer(context ->
            context
                .getEnvironment()
                .getPropertySources()
                .replace(
                    "systemEnvironment",
                    new SystemEnvironmentPropertySource("systemEnvironment", environment)));
  }

  @Test
  void a_lock_is_waited_for_at_least_a_second_and_never_as_long_as_an_answer() {
    runner
        .withPropertyValues("pushplanet.mysql.answer-within=2s")
        .run(context ->
            assertThat(context.getBean(PlatformSettings.class).mysql().lockWithin())
                .isEqualTo(Duration.ofSeconds(1)));
    runner
        .withPropertyValues("pushplanet.mysql.answer-within=1999ms")
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining("answer-within is PT2S or more"));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("pushplanet.mysql.pol-size=1")
        .run(
            context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("pol-size"));
  }
}
