package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// A loop that nothing but a task wakes: by its clock the next sweep is two hours away.
class WakeUpIT {
  private static final long TWO_HOURS = Duration.ofHours(2).toNanos();
  private static final int TASKS = 20;

  private final AtomicLong nanos = new AtomicLong(TWO_HOURS);
  private final CountDownLatch heardTwice = new CountDownLatch(2);
  private final CountDownLatch opened = new CountDownLatch(1);
  private final Socket socket = new Socket();

  @Test
  void a_task_that_comes_while_the_loop_is_at_its_connections_costs_no_later_one_its_wake_up()
      throws Exception {
    try (var transport = start();
        socket) {
      var loop = transport.loops().getFirst();
      socket.connect(new InetSocketAddress("127.0.0.1", transport.port("test")));
      assertThat(opened.await(60, TimeUnit.SECONDS)).isTrue();
      nanos.set(0);
      runIn(loop);

      // The loop wakes for a byte, is told something from elsewhere meanwhile, and finds both a
      // byte and a wake-up in its next turn, in which it is told something again.
      socket.getOutputStream().write(1);

      assertThat(heardTwice.await(60, TimeUnit.SECONDS)).isTrue();
      for (int task = 0; task < TASKS; task++) {
        runIn(loop);
      }
    }
  }

  private Transport start() {
    return OneLoop.start(
        nanos::get,
        connection -> {
          opened.countDown();
          return input -> heard(connection, input);
        });
  }

  private static void runIn(Loop loop) throws InterruptedException {
    var done = new CountDownLatch(1);
    loop.execute(done::countDown);
    assertThat(done.await(60, TimeUnit.SECONDS)).as("the loop was woken").isTrue();
  }

  private void heard(Connection connection, ByteBuffer input) {
    input.position(input.limit());
    CompletableFuture.runAsync(() -> connection.loop().execute(() -> {})).join();
    heardTwice.countDown();
    if (heardTwice.getCount() == 1) {
      try {
        socket.getOutputStream().write(2);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
