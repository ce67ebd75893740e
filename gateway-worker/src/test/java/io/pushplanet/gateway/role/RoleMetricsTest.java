package io.pushplanet.gateway.role;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.mock.env.MockEnvironment;

class RoleMetricsTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @Test
  void a_worker_tells_the_roles_that_it_has_and_no_others() {
    new RoleMetrics(
        new MockEnvironment().withProperty("gateway.roles", "statistics,later"), meters);

    assertThat(meters.get("pushplanet.role").gauges())
        .extracting(gauge -> gauge.getId().getTag("role") + " " + gauge.value())
        .containsExactlyInAnyOrder("statistics 1.0", "later 1.0");
  }

  @ParameterizedTest
  @EnumSource(Role.class)
  void an_alert_tells_that_no_worker_has_a_role(Role role) throws IOException {
    assertThat(Files.readString(Path.of("..", "docs", "operations", "alerts.yml")))
        .contains("absent(pushplanet_role{role=\"" + role.name().toLowerCase(Locale.ROOT) + "\"})");
  }
}
