package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.socket.Sockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongSupplier;

/// Real sockets on a transport of one loop, whose time the test moves by hand.
final class OneLoop {
  private static final int PIECE = 16 * 1024;
  private static final int MOST_PIECES = 4_096;

  private OneLoop() {}

  static Transport start(LongSupplier nanoTime, Function<Connection, Receiver> handlers) {
    return start(nanoTime, new Heap(), handlers);
  }

  static Transport start(
      LongSupplier nanoTime, Heap heap, Function<Connection, Receiver> handlers) {
    var listener =
        new Listener(
            "test",
            new InetSocketAddress("127.0.0.1", 0),
            null,
            false,
            64 * 1024,
            false,
            handlers::apply);
    return Transport.start(
        List.of(listener),
        new TransportSettings(
            1, Sockets.AUTO, 64 * 1024 * 1024, Duration.ofMinutes(5), 1024, 1, 1000),
        new AcceptGate(GateSettings.OPEN, nanoTime.getAsLong(), new SplittableRandom(1)),
        heap,
        new SimpleMeterRegistry(),
        nanoTime);
  }

  static Socket connect(Transport transport) throws IOException {
    return new Socket("127.0.0.1", transport.port("test"));
  }

  /// Writes until the kernel takes no more, for a peer that does not read.
  static void fill(Connection connection) throws Exception {
    var full = new AtomicBoolean();
    for (int pieces = 0; !full.get(); pieces++) {
      assertThat(pieces).as("pieces that the kernel has taken").isLessThan(MOST_PIECES);
      run(connection, () -> connection.write(new byte[PIECE]));
      run(connection, () -> full.set(connection.pendingBytes() > 0));
    }
  }

  /// In a turn of its loop that begins no sooner.
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
