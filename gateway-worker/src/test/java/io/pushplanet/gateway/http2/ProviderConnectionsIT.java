package io.pushplanet.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.gateway.connection.Names;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.connection.Reply.NotSent;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.simulators.Options;
import io.pushplanet.simulators.Simulators;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Fate.Action;
import io.pushplanet.simulators.script.ScriptLine;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Connections to a server that answers every request (with a 400, which is as good here), behind a
/// way that can die.
class ProviderConnectionsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration NEVER = Duration.ofHours(1);
  private static final Simulated OAUTH = Simulated.OAUTH;
  private static @TempDir Path state;
  private static Simulators simulators;

  private SimpleMeterRegistry meters;
  private BlackHole way;
  private ConnectionTarget target;

  @BeforeAll
  static void startServer() {
    simulators = Simulators.start(Options.in(state), Clock.systemUTC());
    warm();
  }

  /// The first use of everything takes seconds on a busy machine.
  private static void warm() {
    ConnectionSettings patient =
        new ConnectionSettings(1, 10, 100, PATIENCE, PATIENCE, NEVER, NEVER, PATIENCE);
    try (ProviderConnections connections =
        new ProviderConnections(
            Channel.FCM, patient, Clock.systemUTC(), new SimpleMeterRegistry())) {
      var _ = send(connections, target(simulators.fcm().port()), Priority.NORMAL);
    }
  }

  @AfterAll
  static void stopServer() {
    simulators.close();
  }

  /// These tests tell silence from life by seconds.
  private void undisturbed(Undisturbed.Scene scene) throws Exception {
    Undisturbed.play(() -> {
      disconnect();
      connect();
      scene.play();
    });
  }

  @BeforeEach
  void connect() throws Exception {
    meters = new SimpleMeterRegistry();
    way = new BlackHole(simulators.fcm().port());
    target = target(way.port());
  }

  private static ConnectionTarget target(int port) {
    return new ConnectionTarget(
        "credential",
        URI.create("https://localhost:" + port),
        Trust.with("authority", simulators.authority().pem()).context());
  }

  @AfterEach
  void disconnect() {
    simulators.script().clear();
    way.close();
  }

  @Test
  void uniqush_push_68_a_silently_dead_peer_is_found_before_the_next_request() throws Exception {
    undisturbed(this::findTheDeadBeforeTheNext);
  }

  private void findTheDeadBeforeTheNext() throws Exception {
    try (ProviderConnections connections = connections(Duration.ZERO, NEVER, PATIENCE)) {
      assertThat(send(connections, Priority.NORMAL)).isInstanceOf(Answered.class);
      way.swallow();

      Reply reply = send(connections, Priority.NORMAL);

      assertThat(reply).isInstanceOf(Answered.class);
      assertThat(way.connections()).isEqualTo(2);
      Eventually.within(PATIENCE, () -> assertThat(way.leftByClient()).isEqualTo(1));
      Eventually.within(PATIENCE, () -> assertThat(gauge("connections")).isEqualTo(1));
    }
  }

  @Test
  void requests_on_a_dead_connection_end_once_and_the_next_gets_through() throws Exception {
    undisturbed(this::endThoseOnTheDead);
  }

  private void endThoseOnTheDead() throws Exception {
    try (ProviderConnections connections = connections(NEVER, NEVER, Duration.ofSeconds(2));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      assertThat(send(connections, Priority.NORMAL)).isInstanceOf(Answered.class);
      way.swallow();

      List<Future<Reply>> sent = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        sent.add(threads.submit(() -> send(connections, Priority.NORMAL)));
      }
      List<Reply> replies = new ArrayList<>();
      for (Future<Reply> one : sent) {
        replies.add(one.get(60, TimeUnit.SECONDS));
      }

      // Requests that arrive after the first deadline has closed the connection are answered on
      // another.
      assertThat(replies)
          .allMatch(reply -> reply instanceof NoAnswer || reply instanceof Answered)
          .anyMatch(NoAnswer.class::isInstance);
      assertThat(send(connections, Priority.NORMAL)).isInstanceOf(Answered.class);
      Eventually.within(PATIENCE, () -> assertThat(way.leftByClient()).isEqualTo(1));
    }
  }

  @Test
  void gorush_693_an_unused_connection_is_closed_and_opened_again_when_needed() {
    try (ProviderConnections connections = connections(NEVER, Duration.ofMillis(400), PATIENCE)) {
      assertThat(send(connections, Priority.NORMAL)).isInstanceOf(Answered.class);

      Eventually.within(PATIENCE, () -> assertThat(gauge("connections")).isZero());

      assertThat(send(connections, Priority.NORMAL)).isInstanceOf(Answered.class);
    }
  }

  @Test
  void high_gets_a_stream_while_bulk_waits_for_one() throws Exception {
    undisturbed(this::letTheHighPass);
  }

  private void letTheHighPass() throws Exception {
    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    try (ProviderConnections connections = connections(NEVER, NEVER, Duration.ofMinutes(1))) {
      assertThat(send(connections, Priority.NORMAL)).isInstanceOf(Answered.class);
      int heardBefore = heard();
      simulators.script().add(ScriptLine.next(OAUTH, 9, Fate.of(Action.SILENCE)));
      for (int i = 0; i < 12; i++) {
        threads.submit(() -> send(connections, Priority.NORMAL));
      }
      Eventually.within(PATIENCE, () -> assertThat(heard()).isEqualTo(heardBefore + 9));
      Eventually.within(PATIENCE, () -> assertThat(gauge("streams.waiting")).isEqualTo(3));

      Reply high = send(connections, Priority.HIGH);

      assertThat(high).isInstanceOf(Answered.class);
      assertThat(
              meters
                  .get("pushplanet.provider.stream.wait")
                  .tags("channel", "fcm", "priority", "high")
                  .timer()
                  .count())
          .isEqualTo(1);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void bark_server_94_a_silent_name_server_differs_from_a_busy_provider() throws Exception {
    undisturbed(this::waitForTheNameServer);
  }

  private void waitForTheNameServer() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    ConnectionSettings settings =
        new ConnectionSettings(
            1, 10, 100, Duration.ofSeconds(6), PATIENCE, NEVER, NEVER, Duration.ofSeconds(3));
    Names names =
        new Names(host -> {
          try {
            never.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          throw new UnknownHostException(host);
        });
    try (ProviderConnections connections =
        new ProviderConnections(
            Channel.FCM,
            settings,
            meters,
            new Http2Connector(settings, Clock.systemUTC(), 1, names))) {
      assertThat(send(connections, Priority.NORMAL)).isEqualTo(new NotSent("dns_failed"));
    } finally {
      never.countDown();
    }
  }

  @Test
  void a_host_that_moves_is_found_at_its_new_address() throws Exception {
    AtomicReference<InetAddress> address =
        new AtomicReference<>(InetAddress.getByName("127.0.0.2"));
    ConnectionSettings settings =
        new ConnectionSettings(1, 10, 100, PATIENCE, PATIENCE, NEVER, NEVER, PATIENCE);
    Names names = new Names(_ -> new InetAddress[] {address.get()});
    try (ProviderConnections connections =
        new ProviderConnections(
            Channel.FCM,
            settings,
            meters,
            new Http2Connector(settings, Clock.systemUTC(), 1, names))) {
      assertThat(send(connections, Priority.NORMAL)).isEqualTo(new NotSent("connect_refused"));

      address.set(InetAddress.getLoopbackAddress());

      Eventually.within(
          PATIENCE,
          () -> assertThat(send(connections, Priority.NORMAL)).isInstanceOf(Answered.class));
    }
  }

  @Test
  void with_all_connections_in_use_a_further_credential_waits_its_turn() throws Exception {
    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    ConnectionSettings settings =
        new ConnectionSettings(1, 10, 1, PATIENCE, PATIENCE, NEVER, NEVER, PATIENCE);
    ConnectionTarget further =
        new ConnectionTarget("another credential", target.endpoint(), target.tls());
    try (ProviderConnections connections =
        new ProviderConnections(Channel.FCM, settings, Clock.systemUTC(), meters)) {
      int heardBefore = heard();
      simulators.script().add(ScriptLine.next(OAUTH, 1, Fate.of(Action.SILENCE)));
      threads.submit(() -> send(connections, Priority.NORMAL));
      Eventually.within(PATIENCE, () -> assertThat(heard()).isEqualTo(heardBefore + 1));

      assertThat(send(connections, further, Priority.NORMAL))
          .isEqualTo(new NotSent("too_many_connections"));

      threads.shutdownNow();
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(send(connections, further, Priority.NORMAL)).isInstanceOf(Answered.class));
    } finally {
      threads.shutdownNow();
    }
  }

  /// One connection of ten streams, of which nine are for both priorities.
  private ProviderConnections connections(
      Duration pingAfter, Duration idleTimeout, Duration requestTimeout) {
    return new ProviderConnections(
        Channel.FCM,
        new ConnectionSettings(
            1, 10, 100, PATIENCE, requestTimeout, idleTimeout, pingAfter, Duration.ofSeconds(3)),
        Clock.systemUTC(),
        meters);
  }

  private Reply send(ProviderConnections connections, Priority priority) {
    return send(connections, target, priority);
  }

  private static Reply send(
      ProviderConnections connections, ConnectionTarget to, Priority priority) {
    byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
    return connections.send(
        to, new ProviderRequest(priority, "/token", List.of(), body, null), _ -> false);
  }

  private static int heard() {
    return simulators.ledger().entries("").size();
  }

  private double gauge(String name) {
    return meters.get("pushplanet.provider.pool." + name).gauge().value();
  }
}
