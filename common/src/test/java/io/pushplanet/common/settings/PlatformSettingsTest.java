package io.pushplanet.common.settings;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.settings.PlatformSettings.Amqp;
import io.pushplanet.common.settings.PlatformSettings.Mysql;
import io.pushplanet.common.settings.PlatformSettings.Redis;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

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
                        "jdbc:mysql://127.0.0.1:3306/pushplanet", "pushplanet", new Secret(""), 10),
                    new Redis(new Secret("redis://127.0.0.1:6379")),
                    new Amqp(new Secret("amqp://guest:guest@127.0.0.1:5672/%2f")),
                    new Secret("k3y")))
            .asString()
            .doesNotContain("k3y", "guest"));
  }

  @Test
  void without_a_master_key_nothing_starts() {
    new ApplicationContextRunner()
        .withUserConfiguration(Wiring.class)
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("masterKey"));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("pushplanet.mysql.pol-size=1")
        .run(
            context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("pol-size"));
  }
}
