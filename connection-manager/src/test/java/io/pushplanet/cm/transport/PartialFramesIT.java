package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.TestCertificate;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Peers that are known, and send frames of which the rest does not come.
class PartialFramesIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int QUARTER = OneLoop.PARTIAL_BYTES / 4;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<Connection> crowded = new CopyOnWriteArrayList<>();
  private final List<Connection> accepted = new CopyOnWriteArrayList<>();
  private final List<Socket> clients = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (var client : clients) {
      client.close();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void hold_so_much_together_and_whose_frame_finds_no_room_is_closed(
      boolean overTls, @TempDir Path directory) throws Exception {
    var tls = overTls ? OneLoop.identity(directory) : null;
    try (var log = new LogLines(Pressure.class);
        var transport = OneLoop.start(System::nanoTime, new Heap(), tls, meters, this::known)) {
      var first = connect(overTls, transport);
      first.getOutputStream().write(new byte[QUARTER]);
      awaitHeld(QUARTER);

      var greedy = connect(overTls, transport);
      greedy.getOutputStream().write(new byte[3 * QUARTER + 8 * 1_024]);

      Eventually.within(PATIENCE, () -> assertThat(crowded).hasSize(1));
      assertThat(crowded.getFirst()).isNotSameAs(accepted.getFirst());
      assertThat(accepted.getFirst().isOpen()).isTrue();
      assertThat(log.said())
          .singleElement()
          .asString()
          .startsWith("event=pressure_began kind=partial_bytes")
          .contains("cm.transport.partial-bytes");
      greedy.close();
      var modest = connect(overTls, transport);
      modest.getOutputStream().write(new byte[1_024]);
      awaitHeld(QUARTER + 1_024);
      assertThat(crowded).hasSize(1);

      first.close();
      modest.close();
      Eventually.within(PATIENCE, () -> assertThat(held()).isZero());
    }
  }

  /// It came with its CONNECT, and was a stranger's till then.
  @Test
  void so_does_what_came_of_a_peer_before_it_was_known() throws Exception {
    try (var transport = OneLoop.start(System::nanoTime, new Heap(), null, meters, this::unknown)) {
      var senders = new ArrayList<Socket>();
      for (int count = 0; count < 5; count++) {
        var sender = connect(false, transport);
        sender.getOutputStream().write(new byte[60 * 1024]);
        senders.add(sender);
      }
      Eventually.within(
          PATIENCE,
          () -> assertThat(transport.unauthenticatedBytes()).isGreaterThan(5 * 60 * 1024));

      for (var connection : accepted) {
        OneLoop.run(connection, connection::authenticated);
      }

      Eventually.within(PATIENCE, () -> assertThat(crowded).isNotEmpty());
      assertThat(transport.unauthenticatedBytes()).isZero();
      for (var sender : senders) {
        sender.close();
      }
      Eventually.within(PATIENCE, () -> assertThat(held()).isZero());
    }
  }

  @Test
  void what_is_left_of_many_frames_holds_no_more_than_itself() throws Exception {
    var offered = new LongAdder();
    try (var transport =
        OneLoop.start(
            System::nanoTime,
            new Heap(),
            null,
            meters,
            connection -> {
              connection.authenticated();
              return input -> {
                offered.add(input.remaining());
                input.position(input.limit() - 1);
              };
            })) {
      var sender = connect(false, transport);
      sender.getOutputStream().write(new byte[1]);
      awaitHeld(1);
      sender.getOutputStream().write(new byte[QUARTER]);
      Eventually.within(PATIENCE, () -> assertThat(offered.sum()).isGreaterThan(QUARTER));

      Eventually.within(PATIENCE, () -> assertThat(held()).isEqualTo(256));
    }
  }

  @Test
  void who_lets_the_rest_wait_makes_room_once_there_is_none() throws Exception {
    var later = new AtomicLong();
    try (var transport =
        OneLoop.start(
            () -> System.nanoTime() + later.get(), new Heap(), null, meters, this::known)) {
      for (int peer = 1; held() <= 3.5 * QUARTER; peer++) {
        connect(false, transport).getOutputStream().write(new byte[3 * QUARTER / 8]);
        awaitHeld(peer * 3 * QUARTER / 8);
      }
      assertThat(crowded).as("they are young").isEmpty();

      later.addAndGet(TimeUnit.SECONDS.toNanos(30));

      Eventually.within(PATIENCE, () -> assertThat(crowded).isNotEmpty());
      Eventually.within(PATIENCE, () -> assertThat(held()).isLessThanOrEqualTo(3.5 * QUARTER));
    }
  }

  private Receiver known(Connection connection) {
    connection.authenticated();
    return unknown(connection);
  }

  private Receiver unknown(Connection connection) {
    accepted.add(connection);
    return new Receiver() {
      @Override
      public void received(ByteBuffer input) {}

      @Override
      public void crowded() {
        crowded.add(connection);
      }
    };
  }

  private Socket connect(boolean overTls, Transport transport) throws Exception {
    var wire = OneLoop.connect(transport);
    clients.add(wire);
    if (!overTls) {
      return wire;
    }
    var socket =
        (SSLSocket)
            new TestCertificate.Witness()
                .context()
                .getSocketFactory()
                .createSocket(wire, "127.0.0.1", wire.getPort(), true);
    socket.startHandshake();
    return socket;
  }

  private void awaitHeld(int least) {
    Eventually.within(PATIENCE, () -> assertThat(held()).isGreaterThanOrEqualTo(least));
  }

  private double held() {
    return meters.get("cm.transport.partial.bytes").gauge().value();
  }
}
