package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.http2.BlackHole;
import io.pushplanet.gateway.http2.HeldAnswers;
import io.pushplanet.gateway.http2.ScriptedServer;
import io.pushplanet.simulators.Options;
import io.pushplanet.simulators.Simulators;
import java.io.IOException;
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

/// One connection, to a server that answers every request but may become unreachable, or to one
/// that misbehaves.
class HttpPoolIT {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int PING = 6;
  private static @TempDir Path state;
  private static Simulators simulators;

  @BeforeAll
  static void startServer() {
    simulators = Simulators.start(Options.in(state), Clock.systemUTC());
  }

  @AfterAll
  static void stopServer() {
    simulators.close();
  }

  @Test
  void the_pool_gets_back_the_place_of_a_connection_that_died_in_silence() throws Exception {
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

  /// Answers the first request of each connection.
  private abstract static class Once implements ScriptedServer.Script {
    @Override
    public void request(ScriptedServer.Peer peer, int stream, Http2Headers headers, byte[] body) {
      if (peer.requests.get() == 1) {
        peer.answer(stream);
      } else {
        later(peer);
      }
    }

    abstract void later(ScriptedServer.Peer peer);
  }

  private static ScriptedServer server(ScriptedServer.Script script) throws IOException {
    return new ScriptedServer(script, HeldAnswers.tls(simulators.authority()), 0, true);
  }

  @Test
  void the_pool_gets_back_the_place_of_a_connection_that_only_pings() throws Exception {
    Once talkative =
        new Once() {
          @Override
          void later(ScriptedServer.Peer peer) {
            peer.every(Duration.ofMillis(300), () -> peer.frame(PING, 0, 0, new byte[8]));
          }
        };
    try (ScriptedServer server = server(talkative);
        HttpPool pool = pool(Duration.ofSeconds(4), Duration.ofSeconds(2))) {
      assertThat(post(pool, server.port())).isInstanceOf(Answered.class);
      assertThat(post(pool, server.port())).isEqualTo(new NoAnswer("timeout"));

      assertThat(post(pool, server.port())).isInstanceOf(Answered.class);
      assertThat(server.peers).hasSize(2);
    }
  }

  @Test
  void the_pool_gets_back_the_place_of_a_request_answered_before_it_was_read() throws Exception {
    ScriptedServer.Script hasty =
        new ScriptedServer.Script() {
          @Override
          public void connected(ScriptedServer.Peer peer) {
            peer.settings(new Http2Settings().maxConcurrentStreams(100).initialWindowSize(1));
          }

          @Override
          public void began(ScriptedServer.Peer peer, int stream) {
            if (peer.requests.get() == 0) {
              peer.widen(stream, 1_000);
            } else {
              peer.answer(stream);
              peer.reset(stream, 0);
            }
          }

          @Override
          public void request(
              ScriptedServer.Peer peer, int stream, Http2Headers headers, byte[] body) {
            peer.answer(stream);
          }
        };
    try (ScriptedServer server = server(hasty);
        HttpPool pool = pool(Duration.ofSeconds(1), Duration.ofSeconds(2))) {
      assertThat(post(pool, server.port())).isInstanceOf(Answered.class);
      assertThat(post(pool, server.port())).isInstanceOf(Answered.class);

      Eventually.within(
          PATIENCE, () -> assertThat(post(pool, server.port())).isInstanceOf(Answered.class));
      assertThat(server.peers).hasSize(2);
    }
  }

  private static HttpPool pool() {
    return pool(PATIENCE, Duration.ofSeconds(4));
  }

  private static HttpPool pool(Duration connectTimeout, Duration requestTimeout) {
    return new HttpPool(
        Channel.HMS,
        new HttpPool.Bounds(1, 1, connectTimeout, requestTimeout, PATIENCE, 10_000),
        true,
        Trust.with("authority", simulators.authority().pem()).context(),
        Clock.systemUTC(),
        new SimpleMeterRegistry());
  }

  private static Reply post(HttpPool pool, BlackHole way) {
    return post(pool, way.port());
  }

  private static Reply post(HttpPool pool, int port) {
    return pool.post(
        HttpPool.Target.at(URI.create("https://localhost:" + port), "/"),
        List.of(),
        "{}".getBytes(StandardCharsets.UTF_8),
        null);
  }
}
