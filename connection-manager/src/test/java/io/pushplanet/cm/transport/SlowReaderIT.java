package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Who does not read, and who does, while the heap is nearly full.
class SlowReaderIT {
  private static final int A_QUARTER = 16 * 1024;

  private final Heap heap = new Heap();
  private final CompletableFuture<Connection> accepted = new CompletableFuture<>();

  @Test
  void a_slow_reader_is_closed_at_a_sixteenth_while_the_heap_is_nearly_full() throws Exception {
    try (var transport = start();
        var _ = OneLoop.connect(transport)) {
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

  @Test
  void whose_kernel_takes_it_all_is_not_however_much_comes_at_once() throws Exception {
    try (var transport = start();
        var client = OneLoop.connect(transport)) {
      var connection = accepted.get(60, TimeUnit.SECONDS);
      OneLoop.run(connection, connection::authenticated);

      fullHeapWrites(connection);

      assertThat(client.getInputStream().readNBytes(A_QUARTER)).hasSize(A_QUARTER);
      assertThat(connection.isOpen()).isTrue();
    }
  }

  /// In one turn: once a second the heap is looked at, and is not full.
  private void fullHeapWrites(Connection connection) throws Exception {
    OneLoop.run(
        connection,
        () -> {
          heap.read(1, 1, 0);
          connection.write(new byte[A_QUARTER]);
        });
  }

  private Transport start() {
    return OneLoop.start(
        System::nanoTime,
        heap,
        connection -> {
          accepted.complete(connection);
          return input -> input.position(input.limit());
        });
  }
}
