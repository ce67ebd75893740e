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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/// A loop that only a task wakes: by its clock the next sweep is two hours away.
class WakeUpIT {
  private static final long TWO_HOURS = Duration.ofHours(2).toNanos();
  private static final int TASKS = 20;
  private static final long BEGUN = System.nanoTime();

  private final AtomicLong nanos = new AtomicLong(TWO_HOURS);
  private final CountDownLatch heardTwice = new CountDownLatch(2);
  private final CountDownLatch opened = new CountDownLatch(1);
  private final Socket socket = new Socket();

  @Test
  void a_task_that_arrives_during_a_turn_does_not_suppress_a_later_wakeup() throws Exception {
    try (var transport = start();
        socket) {
      var loop = transport.loops().getFirst();
      socket.connect(new InetSocketAddress("127.0.0.1", transport.port("test")));
      assertThat(opened.await(60, TimeUnit.SECONDS)).isTrue();
      nanos.set(0);
      runIn(loop);

      // The loop wakes for a byte and is given a task meanwhile; its next turn finds both a byte
      // and a wakeup, and it is given another task in that turn.
      socket.getOutputStream().write(1);

      assertThat(heardTwice.await(60, TimeUnit.SECONDS)).isTrue();
      for (int task = 0; task < TASKS; task++) {
        runIn(loop);
      }
    }
  }

  /// Waits in whole milliseconds do not meet deadlines: a loop that waits too short turns in vain,
  /// and one that does not wait turns all the time.
  @Test
  void a_wait_for_a_task_is_one_turn() throws Exception {
    var real = new AtomicBoolean();
    var readings = new AtomicInteger();
    LongSupplier clock =
        () -> {
          readings.incrementAndGet();
          return real.get() ? System.nanoTime() - BEGUN : TWO_HOURS;
        };
    try (var transport = OneLoop.start(clock, _ -> _ -> {})) {
      var loop = transport.loops().getFirst();
      runIn(loop);
      real.set(true);
      var waits = new Waits(loop, readings);

      loop.execute(waits::next);

      assertThat(waits.over.await(60, TimeUnit.SECONDS)).isTrue();
      // A turn reads the clock four times: before and after it waits, and after each of two steps.
      // The first task's wakeup may cause one more turn.
      assertThat(waits.readings()).isLessThan(5 * TASKS);
    }
  }

  private static final class Waits {
    private static final Duration EACH = Duration.ofNanos(2_700_001);

    private final Loop loop;
    private final AtomicInteger clock;
    private final CountDownLatch over = new CountDownLatch(1);
    private int left = TASKS;
    private int before;
    private volatile int after;

    Waits(Loop loop, AtomicInteger clock) {
      this.loop = loop;
      this.clock = clock;
    }

    void next() {
      if (left == TASKS) {
        before = clock.get();
      }
      if (left-- > 0) {
        loop.executeAfter(EACH, this::next);
      } else {
        after = clock.get();
        over.countDown();
      }
    }

    int readings() {
      return after - before;
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
