package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// What a loop still does when its process stops.
class LoopStopTest {
  private static final byte TASKS = 1;
  private static final byte LAST = 2;

  @Test
  void bytes_of_waiting_tasks_and_of_the_handlers_leave_before_the_connections_close()
      throws Exception {
    var sent = new ByteArrayOutputStream();
    var turning = new CountDownLatch(1);
    var goesOn = new CountDownLatch(1);
    try (var sockets =
        new FakeSockets(
            new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(1)),
            new SimpleMeterRegistry(),
            () -> 0,
            LastWords::new)) {
      sockets
          .loop()
          .execute(() -> {
            sockets.onSent(sent::writeBytes);
            var connection = sockets.accept();
            turning.countDown();
            await(goesOn);
            sockets.loop().execute(() -> connection.write(new byte[] {TASKS}));
          });
      await(turning);
      // From now on the loop begins no other turn.
      sockets.loop().stop();
      goesOn.countDown();

      sockets.stop();

      assertThat(sent.toByteArray()).containsExactly(TASKS, LAST);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException stopped) {
      throw new AssertionError(stopped);
    }
  }

  private record LastWords(Connection connection) implements Receiver {
    @Override
    public void received(ByteBuffer input) {}

    @Override
    public void stopping() {
      connection.write(new byte[] {LAST});
    }
  }
}
