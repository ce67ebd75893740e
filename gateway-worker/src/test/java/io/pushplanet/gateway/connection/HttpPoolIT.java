package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.simulators.Options;
import io.pushplanet.simulators.Simulators;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// One connection to a server that answers every request, behind a way that can die.
class HttpPoolIT {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static @TempDir Path state;
  private static Simulators simulators;

  @BeforeAll
  static void startServer() {
    simulators =
        Simulators.start(
            new Options(0, 0, 0, 0, 0, 0, state, false, Duration.ZERO, "127.0.0.1"),
            Clock.systemUTC());
  }

  @AfterAll
  static void stopServer() {
    simulators.close();
  }

  @Test
  void the_place_of_a_connection_that_died_in_silence_is_free_again() throws Exception {
    Undisturbed.play(() -> {
      try (BlackHole way = new BlackHole(simulators.hms().port());
          HttpPool pool = pool()) {
        assertThat(post(pool, way)).isInstanceOf(Answered.class);
        way.swallow();

        assertThat(post(pool, way)).isEqualTo(new NoAnswer("timeout"));

        assertThat(post(pool, way)).isInstanceOf(Answered.class);
        assertThat(way.connections()).isEqualTo(2);
      }
    });
  }

  private static HttpPool pool() {
    return new HttpPool(
        Channel.HMS,
        new HttpPool.Bounds(1, 1, PATIENCE, Duration.ofSeconds(4), PATIENCE, 10_000),
        true,
        Trust.with(simulators.authority().pem()).context(),
        Clock.systemUTC(),
        new SimpleMeterRegistry());
  }

  private static Reply post(HttpPool pool, BlackHole way) {
    return pool.post(
        HttpPool.Target.at(URI.create("https://localhost:" + way.port()), "/"),
        List.of(),
        "{}".getBytes(StandardCharsets.UTF_8),
        null);
  }
}
