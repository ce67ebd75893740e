package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.TestCertificate;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.cm.transport.tls.TlsIdentity;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Real sockets on a transport of one loop, whose time the test moves by hand.
public final class OneLoop {
  /// Less than fits into one TLS record.
  static final int PIECE = 16_000;

  static final int PARTIAL_BYTES = 256 * 1024;

  private static final int MAX_PIECES = 4_096;

  private OneLoop() {}

  static Transport start(LongSupplier nanoTime, Function<Connection, Receiver> handlers) {
    return start(nanoTime, new Heap(), handlers);
  }

  static Transport start(
      LongSupplier nanoTime, Heap heap, Function<Connection, Receiver> handlers) {
    return start(nanoTime, heap, null, handlers);
  }

  static Transport start(
      LongSupplier nanoTime,
      Heap heap,
      @Nullable TlsIdentity tls,
      Function<Connection, Receiver> handlers) {
    return start(nanoTime, heap, tls, new SimpleMeterRegistry(), handlers);
  }

  static Transport start(
      LongSupplier nanoTime,
      Heap heap,
      @Nullable TlsIdentity tls,
      MeterRegistry meters,
      Function<Connection, Receiver> handlers) {
    return serve(nanoTime, heap, tls, meters, handlers::apply);
  }

  /// The listener is called `test`.
  public static Transport serve(
      LongSupplier nanoTime, Function<Connection, ConnectionHandler> handlers) {
    return serve(nanoTime, new Heap(), null, new SimpleMeterRegistry(), handlers);
  }

  private static Transport serve(
      LongSupplier nanoTime,
      Heap heap,
      @Nullable TlsIdentity tls,
      MeterRegistry meters,
      Function<Connection, ConnectionHandler> handlers) {
    var listener =
        new Listener(
            "test", new InetSocketAddress("127.0.0.1", 0), tls, false, 64 * 1024, false, handlers);
    return Transport.start(
        List.of(listener),
        new TransportSettings(
            1,
            Sockets.AUTO,
            64 * 1024 * 1024,
            PARTIAL_BYTES,
            Duration.ofMinutes(5),
            Duration.ZERO,
            1024,
            1,
            1000),
        new AcceptGate(GateSettings.OPEN, nanoTime.getAsLong(), new SplittableRandom(1)),
        heap,
        meters,
        nanoTime);
  }

  static TlsIdentity identity(Path directory) throws Exception {
    var certificate = TestCertificate.make(directory);
    return TlsIdentity.fromPem(
        Files.writeString(directory.resolve("server.crt"), certificate.certificatePem()),
        Files.writeString(directory.resolve("server.key"), certificate.keyPem()),
        InstantSource.system());
  }

  static Socket connect(Transport transport) throws IOException {
    return new Socket("127.0.0.1", transport.port("test"));
  }

  /// Writes until the kernel takes no more, for a peer that does not read.
  ///
  /// @return how many [pieces][#PIECE] were written; more than one of them still waits
  static int fill(Connection connection) throws Exception {
    int pieces = 0;
    for (int waits = 0; waits <= PIECE; pieces++) {
      assertThat(pieces).as("pieces that the kernel has taken").isLessThan(MAX_PIECES);
      if (waits > 0) {
        // The kernel moves bytes to the peer's buffer, which makes room on this side.
        TimeUnit.MILLISECONDS.sleep(100);
      }
      run(connection, () -> connection.write(new byte[PIECE]));
      waits = pending(connection);
    }
    return pieces;
  }

  /// After the flush of the previous turn.
  static int pending(Connection connection) throws Exception {
    var pending = new AtomicInteger();
    run(connection, () -> pending.set(connection.pendingBytes()));
    return pending.get();
  }

  /// Runs the task in a turn of the loop that has not begun yet.
  static void run(Connection connection, Runnable task) throws Exception {
    var done = new CountDownLatch(1);
    connection
        .loop()
        .execute(() -> {
          task.run();
          done.countDown();
        });
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
  }
}
