package io.pushplanet.gateway.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class NodeSettingsTest {
  @EnableConfigurationProperties(NodeSettings.class)
  static class Wiring {}

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withUserConfiguration(Wiring.class)
          .withPropertyValues("gateway.node.password=s3cret");

  @Test
  void the_defaults_are_these() {
    runner.run(context ->
        assertThat(context.getBean(NodeSettings.class))
            .isEqualTo(
                new NodeSettings("gateway", new Secret("s3cret"), 16, Duration.ofSeconds(10)))
            .asString()
            .doesNotContain("s3cret"));
  }

  @Test
  void without_a_password_it_does_not_start() {
    new ApplicationContextRunner()
        .withUserConfiguration(Wiring.class)
        .run(context ->
            assertThat(context.getStartupFailure())
                .hasStackTraceContaining(
                    "gateway.node.password is missing: it must equal cm.gateway-password"));
  }

  @Test
  void a_misspelt_setting_stops_the_start() {
    runner
        .withPropertyValues("gateway.node.max-publishin=1")
        .run(context ->
            assertThat(context.getStartupFailure()).hasStackTraceContaining("max-publishin"));
  }
}
