package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/// An exception or Error on a loop, a missing class for instance, ends the connection or task that
/// it belongs to, and not the loop.
class LoopErrorsTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<CloseCause> closed = new CopyOnWriteArrayList<>();

  @Test
  void an_error_on_one_connection_closes_it_and_the_loop_goes_on() throws Exception {
    try (var sockets = sockets()) {
      sockets.loop().execute(() -> sockets.accept().write(new byte[1]));
      turned(sockets);
      // Writes leave at the end of a turn.
      turned(sockets);

      assertThat(closed).containsExactly(CloseCause.ERROR);
      assertThat(meters.get("cm.transport.loop.errors").counter().count()).isEqualTo(1);
    }
  }

  @Test
  void an_error_in_a_task_skips_that_task_and_the_loop_goes_on() throws Exception {
    try (var sockets = sockets()) {
      sockets
          .loop()
          .execute(() -> {
            throw new NoClassDefFoundError("for the test");
          });
      turned(sockets);

      assertThat(meters.get("cm.transport.loop.errors").counter().count()).isEqualTo(1);
    }
  }

  /// Logging an OutOfMemoryError may fail in the same way.
  @Test
  void an_error_that_cannot_be_logged_does_not_end_the_loop() throws Exception {
    try (var sockets = sockets()) {
      sockets
          .loop()
          .execute(() -> {
            throw new Unspeakable();
          });
      turned(sockets);

      assertThat(meters.get("cm.transport.loop.errors").counter().count()).isPositive();
    }
  }

  private static final class Unspeakable extends Error {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw this;
    }
  }

  @Test
  void mqtt311_4_8_0_2_an_error_while_packets_are_handled_ends_their_connection_and_no_other()
      throws Exception {
    try (var sockets = sockets(Fragile::new)) {
      sockets
          .loop()
          .execute(() -> {
            var connection = sockets.accept();
            sockets.accept();
            sockets.receive(connection, new byte[] {1, 2});
            sockets.loop().execute(connection::resumeReading);
          });
      turned(sockets);
      turned(sockets);

      assertThat(closed).containsExactly(CloseCause.ERROR);
      assertThat(sockets.open()).isOne();
    }
  }

  private static void turned(FakeSockets sockets) throws InterruptedException {
    var done = new CountDownLatch(1);
    sockets.loop().execute(done::countDown);
    assertThat(done.await(20, TimeUnit.SECONDS)).as("the loop turns").isTrue();
  }

  private FakeSockets sockets() throws Exception {
    return sockets(connection -> {
      connection.authenticated();
      return new Broken();
    });
  }

  private FakeSockets sockets(Function<Connection, ConnectionHandler> handlers) throws Exception {
    return new FakeSockets(
        new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(1)),
        meters,
        System::nanoTime,
        handlers);
  }

  /// As MQTT does, it stops reading behind a CONNECT; then it fails.
  private final class Fragile implements Receiver {
    private final Connection connection;
    private boolean paused;

    Fragile(Connection connection) {
      this.connection = connection;
    }

    @Override
    public void received(ByteBuffer input) {
      if (paused) {
        throw new NoClassDefFoundError("for the test");
      }
      paused = true;
      input.get();
      connection.pauseReading();
    }

    @Override
    public void closed(CloseCause cause) {
      closed.add(cause);
    }
  }

  private final class Broken implements ConnectionHandler {
    @Override
    public void received(ByteBuffer input) {}

    @Override
    public void crowded() {}

    @Override
    public void flushed() {
      throw new NoClassDefFoundError("for the test");
    }

    @Override
    public boolean swept(long nowNanos) {
      return false;
    }

    @Override
    public void stopping() {}

    @Override
    public void closed(CloseCause cause) {
      closed.add(cause);
    }
  }
}
