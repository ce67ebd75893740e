package io.pushplanet.gateway.role;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.mock.env.MockEnvironment;

class RolesTest {
  private final MockEnvironment environment = new MockEnvironment();

  @Test
  void a_worker_does_everything_unless_told() {
    assertThat(OnRole.roles(environment)).containsExactlyInAnyOrder(Role.values());
  }

  @Test
  void a_worker_does_only_what_it_is_told() {
    environment.setProperty("gateway.roles", "statistics,later");

    assertThat(OnRole.roles(environment)).containsExactlyInAnyOrder(Role.STATISTICS, Role.LATER);
  }

  @Test
  void an_unknown_role_stops_the_start() {
    environment.setProperty("gateway.roles", "delivery");

    assertThatThrownBy(() -> OnRole.roles(environment)).isInstanceOf(BindException.class);
  }
}
