package io.pushplanet.gateway.role;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.testing.SettingsTable;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.mock.env.MockEnvironment;

class SettingGroupsTest {
  @Test
  void misspelt_groups_stop_the_start() {
    MockEnvironment environment =
        new MockEnvironment()
            .withProperty("gateway.statistic.prefetch", "1")
            .withProperty("gateway.nodes.password", "x");

    assertThatThrownBy(() -> new SettingGroups(environment))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith(
            "unknown settings: gateway.nodes, gateway.statistic. The groups are: alerts, apns, ");
  }

  @Test
  void the_groups_are_those_of_the_settings_records() {
    Set<String> groups =
        SettingsTable.names("gateway-worker").stream()
            .map(name -> name.split("\\.", -1)[1])
            .collect(Collectors.toSet());

    assertThat(SettingGroups.GROUPS).isEqualTo(groups);
  }

  @Test
  void a_variable_of_kubernetes_does_not_stop_the_start() {
    MockEnvironment environment = new MockEnvironment();
    environment
        .getPropertySources()
        .addFirst(
            new SystemEnvironmentPropertySource(
                "systemEnvironment", Map.of("GATEWAY_WORKER_PORT", "tcp://10.0.0.1:9082")));

    assertThatCode(() -> new SettingGroups(environment)).doesNotThrowAnyException();
  }

  @Test
  void known_groups_are_left_to_their_records() {
    MockEnvironment environment =
        new MockEnvironment()
            .withProperty("gateway.roles", "deliver,later")
            .withProperty("gateway.node.password", "x");

    assertThatCode(() -> new SettingGroups(environment)).doesNotThrowAnyException();
  }
}
