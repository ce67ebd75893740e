package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// A socket that this process closes lingers, so that its peer reads the last packet.
class LingeringTest {
  private static final Duration LINGERS = Duration.ofMillis(2_001);

  private final AtomicLong nanos = new AtomicLong(1);
  private final List<CloseCause> closed = new CopyOnWriteArrayList<>();

  @Test
  void the_handler_hears_of_the_end_when_the_lingering_begins_and_only_then() throws Exception {
    try (var sockets = sockets()) {
      var connection = sockets.inTurn(sockets::accept);

      sockets.inTurn(() -> close(connection));

      assertThat(closed).containsExactly(CloseCause.OURS);
      assertThat(sockets.inTurn(sockets::open)).isOne();
      nanos.addAndGet(LINGERS.toNanos());
      sockets.inTurn(() -> connection.sweep(nanos.get()));
      assertThat(sockets.inTurn(sockets::open)).isZero();
      assertThat(closed).containsExactly(CloseCause.OURS);
    }
  }

  @Test
  void a_connection_that_its_handler_ends_while_it_is_swept_is_swept_until_its_socket_closes()
      throws Exception {
    try (var sockets = sockets()) {
      var connection = sockets.inTurn(sockets::accept);

      assertThat(sockets.inTurn(() -> connection.sweep(nanos.get()))).isTrue();
      nanos.addAndGet(LINGERS.toNanos());
      assertThat(sockets.inTurn(() -> connection.sweep(nanos.get()))).isFalse();

      assertThat(sockets.inTurn(sockets::open)).isZero();
    }
  }

  private static boolean close(Connection connection) {
    connection.closeAfterFlush();
    return connection.isOpen();
  }

  private FakeSockets sockets() throws Exception {
    return new FakeSockets(
        new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(1)),
        new SimpleMeterRegistry(),
        nanos::get,
        EndsWhenSwept::new);
  }

  private final class EndsWhenSwept implements Receiver {
    private final Connection connection;

    EndsWhenSwept(Connection connection) {
      this.connection = connection;
    }

    @Override
    public void received(ByteBuffer input) {}

    @Override
    public boolean swept(long nowNanos) {
      connection.closeAfterFlush();
      return false;
    }

    @Override
    public void closed(CloseCause cause) {
      closed.add(cause);
    }
  }
}
