package io.pushplanet.cm.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.testing.SettingsTable;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.ConfigurationPropertiesBinding;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.core.convert.converter.Converter;

class NodeSettingsTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withUserConfiguration(OnlySettings.class)
          .withPropertyValues("cm.gateway-password=secret");

  @Test
  void the_defaults_are_the_documented_ones() {
    runner.run(context -> {
      var settings = context.getBean(NodeSettings.class);
      assertThat(settings.mqttPort()).isEqualTo(1883);
      assertThat(settings.tlsPort()).isEqualTo(8883);
      assertThat(settings.gatewayPort()).isEqualTo(1884);
      assertThat(settings.bind()).isEqualTo("0.0.0.0");
      assertThat(settings.advertisedHost()).isEqualTo("127.0.0.1");
      assertThat(settings.gatewayUser()).isEqualTo("gateway");
      assertThat(settings.tls().certificate()).isNull();
      assertThat(settings.session().window()).isEqualTo(16);
      assertThat(settings.session().holdUntilSubscribed()).isEqualTo(Duration.ofSeconds(2));
      assertThat(settings.session().acknowledgeWithin()).isEqualTo(Duration.ofMinutes(1));
      assertThat(settings.inbox().patrolEvery()).isEqualTo(Duration.ofMinutes(5));
      assertThat(settings.directory().verifyEvery()).isEqualTo(Duration.ofMinutes(5));
      assertThat(settings.directory().claimWithin()).isEqualTo(Duration.ofSeconds(5));
      assertThat(settings.directory().together()).isEqualTo(Duration.ofMillis(25));
      assertThat(settings.drain().perSecond()).isEqualTo(500);
      assertThat(settings.drain().longestAtStop()).isEqualTo(Duration.ofSeconds(10));
      assertThat(settings.keepAlive().learn()).isTrue();
      assertThat(settings.keepAlive().deadPathAfter()).isEqualTo(Duration.ofSeconds(20));
      assertThat(settings.transport().userTimeout()).isEqualTo(Duration.ofSeconds(30));
      assertThat(settings.uplink().bytes().toBytes()).isEqualTo(4096);
      assertThat(settings.uplink().perSecond()).isEqualTo(10);
      assertThat(settings.uplink().burst()).isEqualTo(1_000);
      assertThat(settings.wsPort()).isNull();
      assertThat(settings.wssPort()).isNull();
      assertThat(settings.admission().connectsPerSecond()).isEqualTo(5000);
      assertThat(settings.admission().unlimitedSources()).isEqualTo("127.0.0.0/8,::1");
      assertThat(settings.toString()).doesNotContain("secret");
    });
  }

  @Test
  void gateways_are_listened_for_where_devices_are_unless_they_have_an_address_of_their_own() {
    runner
        .withPropertyValues("cm.bind=192.0.2.1")
        .run(context ->
            assertThat(context.getBean(NodeSettings.class).addressForGateways())
                .isEqualTo("192.0.2.1"));
    runner
        .withPropertyValues("cm.bind=192.0.2.1", "cm.gateway-bind=127.0.0.1")
        .run(context ->
            assertThat(context.getBean(NodeSettings.class).addressForGateways())
                .isEqualTo("127.0.0.1"));
  }

  @Test
  void gorush_536_a_limit_of_0_stops_the_start_and_not_every_message() {
    var limits =
        List.of(
            "cm.admission.max-sessions",
            "cm.session.window",
            "cm.session.waiting",
            "cm.directory.waiting",
            "cm.inbox.readers",
            "cm.inbox.waiting",
            "cm.inbox.rows-per-device",
            "cm.delivery.max-open-targets",
            "cm.delivery.frames-waiting",
            "cm.drain.per-second",
            "cm.uplink.in-flight",
            "cm.uplink.burst",
            "cm.uplink.max-open");
    runner
        .withPropertyValues(limits.stream().map(limit -> limit + "=2").toArray(String[]::new))
        .run(context -> assertThat(context).hasNotFailed());

    for (var limit : limits) {
      runner
          .withPropertyValues(limit + "=0")
          .run(context -> assertThat(context).as(limit).hasFailed());
    }
  }

  @ParameterizedTest
  @MethodSource("durations")
  void a_negative_duration_stops_the_start(String setting) {
    runner.withPropertyValues(setting + "=-1s").run(context -> assertThat(context).hasFailed());
  }

  static Set<String> durations() {
    return SettingsTable.durations("connection-manager");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cm.delivery.longest-wait",
        "cm.directory.claim-within",
        "cm.directory.heartbeat-every",
        "cm.directory.verify-every",
        "cm.inbox.patrol-every",
        "cm.session.acknowledge-within",
        "cm.transport.write-stall"
      })
  void a_duration_that_needs_some_time_is_not_0(String setting) {
    runner
        .withPropertyValues(setting + "=0s")
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("DurationMin"));
  }

  @Test
  void without_a_gateway_password_it_does_not_start() {
    new ApplicationContextRunner()
        .withUserConfiguration(OnlySettings.class)
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining("cm.gateway-password is missing: openssl rand"));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner.withPropertyValues("cm.mqtt-prot=1").run(context -> assertThat(context).hasFailed());
    runner
        .withPropertyValues("cm.session.windwo=1")
        .run(context -> assertThat(context).hasFailed());
  }

  @EnableConfigurationProperties(NodeSettings.class)
  static class OnlySettings {
    @Bean
    @ConfigurationPropertiesBinding
    static Converter<String, Secret> secrets() {
      return new Converter<>() {
        @Override
        public Secret convert(String text) {
          return new Secret(text);
        }
      };
    }
  }
}
