package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.settings.PlatformConfiguration;
import io.pushplanet.common.testing.SettingsTable;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

class DashboardSettingsTest {
  private final ApplicationContextRunner context =
      new ApplicationContextRunner()
          .withUserConfiguration(OnlySettings.class)
          .withPropertyValues("pushplanet.master-key=" + RunningDashboard.MASTER_KEY);

  @Configuration(proxyBeanMethods = false)
  @EnableConfigurationProperties(DashboardSettings.class)
  @Import(PlatformConfiguration.class)
  static class OnlySettings {}

  @Test
  void defaults_fit_one_machine() {
    context.run(started -> {
      DashboardSettings settings = started.getBean(DashboardSettings.class);
      assertThat(settings.dispatcherUrl()).isEqualTo(URI.create("http://127.0.0.1:8080"));
      assertThat(settings.testPushTimeout()).isEqualTo(Duration.ofSeconds(5));
      assertThat(settings.maxPasswordChecks()).isEqualTo(4);
      assertThat(settings.credentialCheckWithin()).isEqualTo(Duration.ofSeconds(15));
      assertThat(settings.credentialOverlap()).isEqualTo(Duration.ofDays(1));
      assertThat(settings.auditRetention()).isEqualTo(Duration.ofDays(400));
      assertThat(settings.bootstrapOperator().name()).isNull();
      assertThat(settings.bootstrapOperator().password()).isNull();
    });
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    context
        .withPropertyValues("dashboard.dispatcher-uri=http://127.0.0.1:1")
        .run(started ->
            assertThat(started.getStartupFailure()).hasStackTraceContaining("dispatcher-uri"));
  }

  @ParameterizedTest
  @MethodSource("durations")
  void a_negative_duration_stops_the_start(String setting) {
    context.withPropertyValues(setting + "=-1s").run(started -> assertThat(started).hasFailed());
  }

  static Set<String> durations() {
    return SettingsTable.durations("dashboard");
  }

  @Test
  void a_test_push_without_time_stops_the_start() {
    context
        .withPropertyValues("dashboard.test-push-timeout=0s")
        .run(started ->
            assertThat(started.getStartupFailure()).hasStackTraceContaining("DurationMin"));
  }

  @Test
  void an_audit_log_that_keeps_nothing_stops_the_start() {
    context
        .withPropertyValues("dashboard.audit-retention=0s")
        .run(started ->
            assertThat(started.getStartupFailure())
                .hasStackTraceContaining("dashboard.audit-retention must be positive"));
  }
}
