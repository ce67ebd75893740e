package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.common.testing.Eventually;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/// Floods of real sockets.
class AdmissionRateIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void emqx_14145_a_low_rate_admits_all_clients_over_time_without_spinning() throws Exception {
    try (var server = new EchoServer(new GateSettings(50, 0, 1, 0, 0, ""));
        var clients = Executors.newVirtualThreadPerTaskExecutor()) {
      var answers = new ArrayList<Future<Boolean>>();
      for (int client = 0; client < 60; client++) {
        answers.add(
            clients.submit(() -> {
              try (var socket = server.connect()) {
                return EchoServer.echoes(socket);
              }
            }));
      }

      for (var answer : answers) {
        assertThat(answer.get(60, TimeUnit.SECONDS)).isTrue();
      }

      assertThat(server.counter("cm.transport.accepted", "verdict", "admitted")).isEqualTo(60);
    }
  }

  @Test
  void harper_345_bots_past_their_addresss_rate_reach_no_handler_and_are_held_in_bounds()
      throws Exception {
    try (var server = new EchoServer(new GateSettings(0, 1, 10, 0, 20, ""))) {
      var bots = new ArrayList<Socket>();
      for (int bot = 0; bot < 200; bot++) {
        bots.add(server.connect());
      }
      int answered = 0;
      for (var bot : bots) {
        answered += EchoServer.echoes(bot) ? 1 : 0;
        bot.close();
      }

      assertThat(server.handlers.get()).isEqualTo(answered).isBetween(10, 100);
      assertThat(server.counter("cm.transport.accepted", "verdict", "address_too_fast"))
          .isEqualTo(200 - answered);
    }
  }

  @Test
  void emqx_1663_connected_peers_are_served_while_others_flood_in() throws Exception {
    try (var server = new EchoServer(new GateSettings(0, 1, 10, 0, 100, ""));
        var flood = Executors.newVirtualThreadPerTaskExecutor();
        var device = server.connect()) {
      var stop = new AtomicBoolean();
      for (int bot = 0; bot < 4; bot++) {
        flood.submit(() -> {
          while (!stop.get()) {
            server.connect().close();
          }
          return null;
        });
      }

      for (int message = 0; message < 200; message++) {
        assertThat(EchoServer.echoes(device)).isTrue();
      }

      stop.set(true);
    }
  }

  @Test
  void silent_peers_hold_no_more_than_their_budget_and_accepting_resumes() throws Exception {
    try (var server = new EchoServer(GateSettings.OPEN, null, EchoServer.settings(20 * 512))) {
      var silent = new ArrayList<Socket>();
      for (int socket = 0; socket < 60; socket++) {
        silent.add(server.connect());
      }
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(server.gauge("cm.pressure", "kind", "unauthenticated_bytes"))
                  .isEqualTo(1));
      assertThat(server.connections()).isLessThanOrEqualTo(20);

      for (var socket : silent) {
        socket.close();
      }

      try (var device = server.connect()) {
        assertThat(EchoServer.echoes(device)).isTrue();
      }
      Eventually.within(
          PATIENCE,
          () -> assertThat(server.gauge("cm.pressure", "kind", "unauthenticated_bytes")).isZero());
    }
  }
}
