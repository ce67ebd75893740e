package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.common.settings.KnownSettings;
import io.pushplanet.quickstart.process.ProcessFailed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettablePropertiesTest {
  @TempDir private Path root;

  @BeforeEach
  void build() throws IOException {
    has("common", "pushplanet.mysql.pool-size", "java.lang.Integer");
    has("dispatcher-api", "dispatcher.credential-validity", "java.time.Duration");
    has(
        "gateway-worker",
        Map.of(
            "gateway.alerts.mail.to",
            "java.util.List<java.lang.String>",
            "gateway.bulk",
            "java.lang.Boolean"));
    has(
        "connection-manager",
        Map.of(
            "cm.mqtt-port",
            "java.lang.Integer",
            "cm.tls-port",
            "java.lang.Integer",
            "cm.gateway-port",
            "java.lang.Integer",
            "cm.max-bytes",
            "org.springframework.util.unit.DataSize"));
    has("dashboard", "dashboard.dispatcher-url", "java.net.URI");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cm.mqtt-port",
        "cm.mqttPort",
        "gateway.alerts.mail.to",
        "gateway.alerts.mail.to[0]",
        "gateway.alerts.mail.to.0",
        "pushplanet.mysql.pool-size",
        "mybatis.configuration.default-statement-timeout",
        "spring.any.thing",
        "logging.level.io.pushplanet.cm",
        "server.tomcat.threads.max"
      })
  void a_known_property_may_be_set(String property) {
    var given = new HashMap<>(Map.of("cm.mqtt-port", "1"));
    given.put(property, "1");
    SettableProperties.check(root, given);
  }

  @ParameterizedTest
  @CsvSource({
    "cm.mqtt-prot, did you mean cm.mqtt-port?",
    "dispatcher.credential-valdity, did you mean dispatcher.credential-validity?",
    "mc.mqtt-port, did you mean cm.mqtt-port?",
    "gateway.alerts.mail.tox, did you mean gateway.alerts.mail.to?",
    "cm.mqtt_port, did you mean cm.mqtt-port?",
    "CM_MQTT_PORT, did you mean cm.mqtt-port?",
    "cm.mqtt.port, did you mean cm.mqtt-port?",
    "cm.no-such-thing-at-all, docs/settings.md",
    "nothing, docs/settings.md"
  })
  void an_unknown_property_is_refused_with_the_nearest_name(String property, String told) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() ->
            UpOptions.parse(
                root, List.of("--set=cm.mqtt-port=1", "--set=" + property + "=1"), Map.of()))
        .withMessageContaining("'" + property + "'")
        .withMessageContaining(told);
  }

  @ParameterizedTest
  @CsvSource({
    "cm.mqtt-port, --mqtt-port",
    "cm.mqttPort, --mqtt-port",
    "CM_MQTTPORT, --mqtt-port",
    "cm.tls-port, --mqtt-tls-port",
    "cm.gateway-port, --node-port",
    "server.port, --dispatcher-port or --dashboard-port",
    "management.server.port, --cm-management-port"
  })
  void a_port_that_has_an_option_is_refused_with_that(String property, String option) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> UpOptions.parse(root, List.of("--set=" + property + "=7777"), Map.of()))
        .withMessageContaining("instead of --set=" + property)
        .withMessageContaining(option);
  }

  @ParameterizedTest
  @CsvSource({
    "cm.mqtt-port, 1883x, a whole number",
    "cm.mqttPort, '', a whole number",
    "pushplanet.mysql.pool-size, 99999999999, a whole number",
    "dispatcher.credential-validity, five minutes, a duration",
    "gateway.bulk, maybe, true or false",
    "cm.max-bytes, 5 bags, a size"
  })
  void an_unreadable_value_is_refused_before_the_start(String property, String value, String told) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(
            () -> UpOptions.parse(root, List.of("--set=" + property + "=" + value), Map.of()))
        .withMessageContaining(
            "--set=" + property + "=" + value + ": '" + value + "' is not " + told);
  }

  @ParameterizedTest
  @CsvSource({
    "cm.mqtt-port, 0",
    "cm.mqtt-port, ${PORT}",
    "dispatcher.credential-validity, PT5M",
    "dispatcher.credential-validity, 500ms",
    "dispatcher.credential-validity, 10",
    "gateway.bulk, off",
    "cm.max-bytes, 16MB",
    "gateway.alerts.mail.to[0], 5 bags"
  })
  void a_readable_value_is_accepted(String property, String value) {
    SettableProperties.check(root, Map.of(property, value));
  }

  @Test
  void without_a_build_the_settings_are_unknown() throws IOException {
    Files.delete(metadata("dashboard"));

    assertThatExceptionOfType(ProcessFailed.class)
        .isThrownBy(() -> SettableProperties.check(root, Map.of("cm.mqtt-port", "1")))
        .withMessageContaining("Build first");
  }

  private void has(String module, String property, String type) throws IOException {
    has(module, Map.of(property, type));
  }

  private void has(String module, Map<String, String> types) throws IOException {
    Path file = metadata(module);
    Files.createDirectories(file.getParent());
    Files.writeString(
        file,
        types.entrySet().stream()
            .map(property ->
                "{\"name\": \"%s\", \"type\": \"%s\", \"sourceType\": \"io.pushplanet.Settings\"}"
                    .formatted(property.getKey(), property.getValue()))
            .collect(Collectors.joining(", ", "{\"properties\": [", "]}")));
  }

  private Path metadata(String module) {
    return root.resolve(module).resolve("target/classes").resolve(KnownSettings.METADATA);
  }
}
