package io.pushplanet.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import java.io.IOException;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;

class Http2ConnectorIT {
  private static final Duration NEVER = Duration.ofHours(1);
  private static final ConnectionSettings SETTINGS =
      new ConnectionSettings(1, 10, 100, NEVER, NEVER, NEVER, NEVER, NEVER);

  @Test
  void a_connection_that_comes_at_the_very_deadline_is_given_out_or_closed() throws Exception {
    try (ScriptedServer server = new ScriptedServer((peer, stream, headers, body) -> {});
        Http2Connector connector = new Http2Connector(SETTINGS, Clock.systemUTC())) {
      ConnectionTarget target =
          new ConnectionTarget(
              "credential",
              URI.create("http://127.0.0.1:" + server.port()),
              SSLContext.getDefault());

      for (int count = 0; count < 3_000; count++) {
        try {
          connector.connect(target, Duration.ofMillis(2)).close("not needed");
        } catch (IOException late) {
          // Nobody has it.
        }
      }

      Eventually.within(Duration.ofSeconds(20), () -> assertThat(connector.count()).isZero());
    }
  }
}
