package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.TestCertificate;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
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

/// Authenticated peers that send incomplete frames.
class PartialFramesIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int QUARTER = OneLoop.PARTIAL_BYTES / 4;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<Connection> crowded = new CopyOnWriteArrayList<>();
  private final LongAdder received = new LongAdder();
  private final LongAdder swept = new LongAdder();
  private final List<Connection> accepted = new CopyOnWriteArrayList<>();
  private final List<Socket> clients = new ArrayList<>();
  private volatile int eachSecond;

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

  /// The partial frame came together with the CONNECT, so it counted as unauthenticated until then.
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
  void the_rest_of_many_frames_holds_no_more_than_itself() throws Exception {
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
  void a_peer_that_delays_the_rest_of_a_frame_is_closed_when_there_is_no_room() throws Exception {
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

  @Test
  void a_peer_that_drips_the_rest_of_a_frame_is_closed_when_there_is_no_room() throws Exception {
    var later = new AtomicLong();
    try (var transport =
        OneLoop.start(
            () -> System.nanoTime() + later.get(), new Heap(), null, meters, this::known)) {
      for (int peer = 1; held() <= 3.5 * QUARTER; peer++) {
        var client = connect(false, transport);
        client.getOutputStream().write(new byte[3 * QUARTER / 16]);
        awaitHeld((2 * peer - 1) * 3 * QUARTER / 16);
        // The buffer's capacity doubles, so it has room for all that follows.
        client.getOutputStream().write(0);
        awaitHeld(2 * peer * 3 * QUARTER / 16);
      }
      assertThat(crowded).isEmpty();

      // A sweep checks one connection in sixteen.
      for (int drops = 0; drops < 40 && crowded.isEmpty(); drops++) {
        later.addAndGet(TimeUnit.SECONDS.toNanos(2));
        long before = received.sum();
        for (var client : clients) {
          client.getOutputStream().write(0);
        }
        Eventually.within(
            PATIENCE,
            () ->
                assertThat(crowded.isEmpty() && received.sum() < before + clients.size())
                    .isFalse());
      }

      assertThat(crowded).isNotEmpty();
    }
  }

  /// The piece is kept as ciphertext, so no frame has begun.
  @Test
  void a_peer_that_delays_the_rest_of_a_tls_record_is_closed_when_there_is_no_room(
      @TempDir Path directory) throws Exception {
    var later = new AtomicLong();
    try (var transport =
        OneLoop.start(
            () -> System.nanoTime() + later.get(),
            new Heap(),
            OneLoop.identity(directory),
            meters,
            this::known)) {
      for (int peer = 1; held() <= 3.5 * QUARTER; peer++) {
        var wire = new WithoutTheLastByte(transport.port("test"));
        clients.add(wire);
        var socket = overTls(wire);
        wire.keepsTheLast = true;
        socket.getOutputStream().write(new byte[OneLoop.PIECE]);
        awaitHeld(peer * OneLoop.PIECE);
      }
      assertThat(received.sum()).isZero();
      assertThat(crowded).as("they are young").isEmpty();

      later.addAndGet(TimeUnit.SECONDS.toNanos(30));

      Eventually.within(PATIENCE, () -> assertThat(crowded).isNotEmpty());
      Eventually.within(PATIENCE, () -> assertThat(held()).isLessThanOrEqualTo(3.5 * QUARTER));
    }
  }

  /// More of the peer's bytes wait than may be read now.
  @ParameterizedTest
  @ValueSource(ints = {0, 17})
  void a_peer_that_is_hardly_read_is_closed_when_there_is_no_room(int little) throws Exception {
    var later = new AtomicLong();
    int size = 3 * QUARTER / 8;
    eachSecond = little;
    try (var transport = startSlow(later, size)) {
      for (int peer = 1; held() <= 3.5 * QUARTER; peer++) {
        connect(false, transport).getOutputStream().write(new byte[size]);
        awaitHeld(peer * size);
      }
      assertThat(crowded).as("they have just come").isEmpty();

      for (int seconds = 0; seconds < 60 && crowded.isEmpty(); seconds += 6) {
        pass(6, later);
      }

      assertThat(crowded).isNotEmpty();
      Eventually.within(PATIENCE, () -> assertThat(held()).isLessThanOrEqualTo(3.5 * QUARTER));
    }
  }

  @Test
  void the_unread_rest_keeps_its_waiting_time() throws Exception {
    var later = new AtomicLong();
    int size = 3 * QUARTER / 8;
    try (var transport = startSlow(later, size)) {
      connect(false, transport).getOutputStream().write(new byte[2 * size]);
      awaitHeld(2 * size);
      pass(25, later);
      eachSecond = size + 1_024;
      Eventually.within(PATIENCE, () -> assertThat(held()).isLessThan(size));
      eachSecond = 0;
      for (int peer = 1; held() <= 3.5 * QUARTER; peer++) {
        connect(false, transport).getOutputStream().write(new byte[size]);
        awaitHeld((peer + 1) * size - 1_024);
      }

      pass(20, later);

      assertThat(crowded).containsExactly(accepted.getFirst());
    }
  }

  @Test
  void a_peer_that_is_not_read_may_wait_while_there_is_room() throws Exception {
    var later = new AtomicLong();
    int size = 3 * QUARTER / 4;
    eachSecond = 17;
    try (var transport = startSlow(later, size)) {
      for (int peer = 1; peer <= 2; peer++) {
        connect(false, transport).getOutputStream().write(new byte[size]);
        awaitHeld(peer * size);
      }

      for (int hours = 0; hours < 3; hours++) {
        pass(3_600, later);
      }

      assertThat(crowded).isEmpty();
      assertThat(accepted).allMatch(Connection::isOpen);
    }
  }

  private Transport startSlow(AtomicLong later, int size) throws IOException {
    return OneLoop.start(
        () -> System.nanoTime() + later.get(),
        new Heap(),
        null,
        meters,
        connection -> new Slowed(connection, size));
  }

  /// All connections are swept meanwhile.
  private void pass(int seconds, AtomicLong later) {
    long before = swept.sum();
    later.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
    Eventually.within(
        PATIENCE,
        () -> assertThat(crowded.isEmpty() && swept.sum() < before + accepted.size()).isFalse());
  }

  /// Is not read once many bytes have arrived, except a little each second while more than that
  /// remain.
  private final class Slowed implements Receiver {
    private final Connection connection;
    private final int most;
    private boolean slowed;

    Slowed(Connection connection, int most) {
      this.connection = connection;
      this.most = most;
      accepted.add(connection);
      connection.authenticated();
      connection.watch();
    }

    @Override
    public void received(ByteBuffer input) {
      if (slowed && input.remaining() > eachSecond) {
        input.position(input.position() + eachSecond);
      }
      slowed |= input.remaining() >= most;
      if (slowed) {
        connection.pauseReading();
      }
    }

    @Override
    public boolean swept(long nowNanos) {
      swept.increment();
      if (eachSecond > 0) {
        connection.resumeReading();
      }
      return true;
    }

    @Override
    public void crowded() {
      crowded.add(connection);
    }
  }

  private static final class WithoutTheLastByte extends Socket {
    private volatile boolean keepsTheLast;

    WithoutTheLastByte(int port) throws IOException {
      super("127.0.0.1", port);
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
      return new FilterOutputStream(super.getOutputStream()) {
        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
          out.write(bytes, from, keepsTheLast ? length - 1 : length);
        }
      };
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
      public void received(ByteBuffer input) {
        received.increment();
      }

      @Override
      public void crowded() {
        crowded.add(connection);
      }
    };
  }

  private Socket connect(boolean overTls, Transport transport) throws Exception {
    var wire = OneLoop.connect(transport);
    clients.add(wire);
    return overTls ? overTls(wire) : wire;
  }

  private static Socket overTls(Socket wire) throws Exception {
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
