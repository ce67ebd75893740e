package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Floods of real sockets.
class AdmissionRateIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  /// Of the clock, for each device. A loop that spins reads it some two million times a second.
  private static final int MOST_READINGS = 1_000;

  @Test
  void emqx_14145_a_low_rate_admits_all_clients_over_time_without_spinning() throws Exception {
    int devices = 60;
    var readings = new AtomicInteger();
    try (var log = new LogLines(Pressure.class);
        var server =
            new EchoServer(
                new GateSettings(50, 0, 1, 0, 0, ""),
                null,
                EchoServer.oneLoop(),
                () -> {
                  readings.incrementAndGet();
                  return System.nanoTime();
                });
        var clients = Executors.newVirtualThreadPerTaskExecutor()) {
      var answers = new ArrayList<Future<Boolean>>();
      for (int client = 0; client < devices; client++) {
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

      assertThat(server.counter("cm.transport.accepted", "verdict", "admitted")).isEqualTo(devices);
      assertThat(log.said())
          .as("clients waited for their turn")
          .anyMatch(line -> line.contains("kind=connect_rate"));
      assertThat(readings)
          .as("each turn reads the clock, and each device causes a few turns")
          .hasValueLessThan(devices * MOST_READINGS);
    }
  }

  @Test
  void harper_345_bots_past_their_addresss_rate_reach_no_handler_and_are_held_in_bounds()
      throws Exception {
    int burst = 10;
    int mostHeld = 20;
    // The time stands still: the rate gives nothing back, and no held socket is due.
    var nanos = new AtomicLong();
    var gate = new GateSettings(0, 1, burst, 0, mostHeld, "");
    var bots = new ArrayList<SocketChannel>();
    try (var server = new EchoServer(gate, null, EchoServer.oneLoop(), nanos::get)) {
      for (int bot = 0; bot < 200; bot++) {
        var channel = SocketChannel.open(new InetSocketAddress(LOOPBACK, server.port()));
        channel.configureBlocking(false);
        bots.add(channel);
      }
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(server.counter("cm.transport.accepted", "verdict", "address_too_fast"))
                  .isEqualTo(200 - burst));
      turn(server.loop());

      assertThat(server.handlers).hasValue(burst);
      assertThat(open(bots)).isEqualTo(burst + mostHeld);

      nanos.addAndGet(EventLoop.STANDSTILL.toNanos());
      turn(server.loop());
      assertThat(open(bots)).as("the admitted ones").isEqualTo(burst);
    } finally {
      for (var bot : bots) {
        bot.close();
      }
    }
  }

  @Test
  void emqx_1663_connected_peers_are_served_while_others_flood_in() throws Exception {
    int flood = 5 * Acceptor.ACCEPTS_PER_TURN;
    var accepted = new AtomicInteger();
    // How many of a flood were accepted before the device was served.
    var before = new LinkedBlockingQueue<Integer>();
    var floodBegan = new AtomicInteger();
    try (var transport =
            OneLoop.start(
                System::nanoTime,
                connection -> {
                  accepted.incrementAndGet();
                  return input -> {
                    input.position(input.limit());
                    before.add(accepted.get() - floodBegan.get());
                  };
                });
        var device = OneLoop.connect(transport)) {
      device.getOutputStream().write(7);
      assertThat(before.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as("accepted").isNotNull();

      for (int round = 0; round < 10; round++) {
        var bots = new ArrayList<Socket>();
        try (var _ = new HeldLoop(transport, () -> floodBegan.set(accepted.get()))) {
          for (int bot = 0; bot < flood; bot++) {
            bots.add(OneLoop.connect(transport));
          }
          device.getOutputStream().write(7);
        }

        assertThat(before.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS))
            .isNotNull()
            .isLessThanOrEqualTo(Acceptor.ACCEPTS_PER_TURN);

        int all = 1 + (round + 1) * flood;
        Eventually.within(PATIENCE, () -> assertThat(accepted).hasValue(all));
        for (var bot : bots) {
          bot.close();
        }
      }
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

  /// How many sockets the server has not reset. A refused one has got nothing to read.
  private static int open(List<SocketChannel> sockets) {
    int open = 0;
    for (var socket : sockets) {
      try {
        open += socket.read(ByteBuffer.allocate(1)) == 0 ? 1 : 0;
      } catch (IOException reset) {
        assertThat(reset).hasMessageContaining("reset");
      }
    }
    return open;
  }

  /// Waits until the loop has made a whole turn.
  private static void turn(EventLoop loop) throws InterruptedException {
    for (int turn = 0; turn < 2; turn++) {
      var turned = new CountDownLatch(1);
      loop.execute(turned::countDown);
      assertThat(turned.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  /// Holds a transport's only loop, so that whatever comes meanwhile is there when it goes on.
  private static final class HeldLoop implements AutoCloseable {
    private final CountDownLatch goesOn = new CountDownLatch(1);

    HeldLoop(Transport transport, Runnable last) throws InterruptedException {
      var held = new CountDownLatch(1);
      transport
          .loops()
          .getFirst()
          .execute(() -> {
            held.countDown();
            try {
              assertThat(goesOn.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException stopped) {
              throw new AssertionError(stopped);
            }
            last.run();
          });
      assertThat(held.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Override
    public void close() {
      goesOn.countDown();
    }
  }
}
