package io.pushplanet.gateway.role;

import static java.util.Locale.ROOT;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/// Tells which roles this process has, so that an alert can tell that no process has one of them.
@Component
final class RoleMetrics {
  RoleMetrics(Environment environment, MeterRegistry meters) {
    for (Role role : OnRole.roles(environment)) {
      Gauge.builder("pushplanet.role", () -> 1)
          .description("1 for each role that the worker has (`gateway.roles`)")
          .tag("role", role.name().toLowerCase(ROOT))
          .register(meters);
    }
  }
}
