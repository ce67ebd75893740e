package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.TestCertificate;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Peers that read and peers that do not, while the heap is nearly full.
class SlowReaderIT {
  private static final int A_QUARTER = 16 * 1024;

  private final Heap heap = new Heap();
  private final CompletableFuture<Connection> accepted = new CompletableFuture<>();

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_slow_reader_is_closed_at_a_sixteenth_while_the_heap_is_nearly_full(
      boolean overTls, @TempDir Path directory) throws Exception {
    try (var transport = start(overTls, directory);
        var _ = connect(overTls, transport)) {
      var connection = accepted.get(60, TimeUnit.SECONDS);
      OneLoop.run(connection, connection::authenticated);
      OneLoop.fill(connection);
      OneLoop.run(connection, () -> connection.write(new byte[A_QUARTER]));
      OneLoop.run(connection, () -> assertThat(connection.isOpen()).isTrue());

      fullHeapWrites(connection);

      OneLoop.run(connection, () -> {});
      assertThat(connection.isOpen()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_slow_reader_with_waiting_bytes_is_closed_when_the_heap_gets_full(
      boolean overTls, @TempDir Path directory) throws Exception {
    try (var transport = start(overTls, directory);
        var _ = connect(overTls, transport)) {
      var connection = accepted.get(60, TimeUnit.SECONDS);
      OneLoop.run(connection, connection::authenticated);
      OneLoop.fill(connection);
      OneLoop.run(connection, () -> connection.sweep(System.nanoTime()));
      assertThat(connection.isOpen()).isTrue();

      fullHeapSweeps(connection);

      assertThat(connection.isOpen()).isFalse();
    }
  }

  @Test
  void whose_kernel_takes_it_all_is_not_however_much_comes_at_once() throws Exception {
    try (var transport = OneLoop.start(System::nanoTime, heap, this::accepted);
        var client = OneLoop.connect(transport)) {
      var connection = accepted.get(60, TimeUnit.SECONDS);
      OneLoop.run(connection, connection::authenticated);

      fullHeapWrites(connection);

      assertThat(client.getInputStream().readNBytes(A_QUARTER)).hasSize(A_QUARTER);
      assertThat(connection.isOpen()).isTrue();
    }
  }

  @Test
  void a_peer_that_is_not_read_is_closed_for_its_kept_bytes_while_the_heap_is_nearly_full()
      throws Exception {
    var came = new CountDownLatch(1);
    try (var transport =
            OneLoop.start(
                System::nanoTime,
                heap,
                connection -> {
                  accepted.complete(connection);
                  return _ -> {
                    connection.pauseReading();
                    came.countDown();
                  };
                });
        var client = OneLoop.connect(transport)) {
      var connection = accepted.get(60, TimeUnit.SECONDS);
      OneLoop.run(connection, connection::authenticated);
      client.getOutputStream().write(new byte[A_QUARTER]);
      assertThat(came.await(60, TimeUnit.SECONDS)).isTrue();
      OneLoop.run(connection, () -> connection.sweep(System.nanoTime()));
      assertThat(connection.isOpen()).isTrue();

      fullHeapSweeps(connection);

      assertThat(connection.isOpen()).isFalse();
    }
  }

  /// Over TLS the rest of a record is sent by other code than its beginning.
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void bytes_that_a_slow_reader_takes_later_count_as_written(
      boolean overTls, @TempDir Path directory) throws Exception {
    var meters = new SimpleMeterRegistry();
    try (var transport =
            OneLoop.start(
                System::nanoTime,
                heap,
                overTls ? OneLoop.identity(directory) : null,
                meters,
                this::accepted);
        var wire = new CountingSocket(transport.port("test"));
        var client = overTls ? overTls(wire) : wire) {
      var connection = accepted.get(60, TimeUnit.SECONDS);
      OneLoop.run(connection, connection::authenticated);
      client.setSoTimeout(60_000);
      int written = OneLoop.fill(connection) * OneLoop.PIECE;

      assertThat(client.getInputStream().readNBytes(written)).hasSize(written);

      // The last turn's bytes are counted before the next turn.
      OneLoop.run(connection, () -> {});
      assertThat(meters.get("cm.transport.bytes").tag("direction", "written").counter().count())
          .isEqualTo(wire.bytes);
    }
  }

  private void fullHeapSweeps(Connection connection) throws Exception {
    OneLoop.run(
        connection,
        () -> {
          heap.read(1, 1, 0);
          connection.sweep(System.nanoTime());
        });
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

  /// Counts the bytes that are read from it. For one thread.
  private static final class CountingSocket extends Socket {
    private long bytes;

    CountingSocket(int port) throws IOException {
      super("127.0.0.1", port);
    }

    @Override
    public InputStream getInputStream() throws IOException {
      return new FilterInputStream(super.getInputStream()) {
        @Override
        public int read() throws IOException {
          int one = super.read();
          bytes += one < 0 ? 0 : 1;
          return one;
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
          int some = super.read(into, from, length);
          bytes += Math.max(0, some);
          return some;
        }
      };
    }
  }

  /// Writes and sweeps in one turn: the heap is checked once a second and is not full before.
  private void fullHeapWrites(Connection connection) throws Exception {
    OneLoop.run(
        connection,
        () -> {
          heap.read(1, 1, 0);
          connection.write(new byte[A_QUARTER]);
          connection.sweep(System.nanoTime());
        });
  }

  private Transport start(boolean overTls, Path directory) throws Exception {
    var tls = overTls ? OneLoop.identity(directory) : null;
    return OneLoop.start(System::nanoTime, heap, tls, this::accepted);
  }

  private static Socket connect(boolean overTls, Transport transport) throws Exception {
    var wire = OneLoop.connect(transport);
    return overTls ? overTls(wire) : wire;
  }

  private Receiver accepted(Connection connection) {
    accepted.complete(connection);
    return input -> input.position(input.limit());
  }
}
