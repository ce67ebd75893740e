package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Real sockets, and a loop whose time is moved by hand.
class SweepIT {
  private static final int SOCKETS = 50;

  private static final Duration A_LOOK = Duration.ofNanos(100_000);

  /// A slice has this many.
  private static final int A_SLICE = 2;

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final AtomicLong nanos = new AtomicLong(1);
  private final List<Handler> handlers = new CopyOnWriteArrayList<>();
  private final List<Socket> sockets = new ArrayList<>();
  private volatile Runnable onLook = () -> {};
  private Transport transport;

  @BeforeEach
  void connect() throws Exception {
    transport =
        OneLoop.start(
            nanos::get,
            connection -> {
              var handler = new Handler(connection);
              handlers.add(handler);
              return handler;
            });
    for (int count = 0; count < SOCKETS; count++) {
      sockets.add(OneLoop.connect(transport));
    }
    Eventually.within(PATIENCE, () -> assertThat(handlers).hasSize(SOCKETS));
    // The connections are new, so they are swept.
    second();
    handlers.forEach(handler -> handler.looks.set(0));
  }

  @AfterEach
  void close() throws Exception {
    for (var socket : sockets) {
      socket.close();
    }
    transport.close();
  }

  @Test
  void an_idle_connection_is_looked_at_once_in_sixteen_seconds() throws Exception {
    for (int round = 1; round <= 3; round++) {
      for (int second = 0; second < EventLoop.IDLE_SWEEP.toSeconds(); second++) {
        second();
      }
      int rounds = round;
      assertThat(handlers)
          .allSatisfy(handler -> assertThat(handler.looks.get()).isBetween(rounds, 2 * rounds));
    }
  }

  @Test
  void an_active_connection_is_swept_every_second_until_it_is_idle() throws Exception {
    var busy = handlers.get(7);
    var written = handlers.get(8);
    inLoop(() -> {
      busy.busy = true;
      busy.connection.watch();
      written.connection.write(new byte[] {1});
    });

    for (int second = 1; second <= 5; second++) {
      second();
      assertThat(busy.looks.get()).isGreaterThanOrEqualTo(second);
    }
    assertThat(written.looks.get()).isBetween(1, 2);
    inLoop(() -> busy.busy = false);
    second();
    busy.looks.set(0);
    for (int second = 0; second < 5; second++) {
      second();
    }

    assertThat(busy.looks.get()).isLessThanOrEqualTo(1);
  }

  @Test
  void connections_that_close_in_between_hide_no_other() throws Exception {
    for (int second = 0; second < EventLoop.IDLE_SWEEP.toSeconds(); second++) {
      var leaving = handlers.get(second * 3);
      inLoop(() -> leaving.connection.close(CloseCause.OURS));
      second();
    }

    assertThat(handlers)
        .filteredOn(handler -> handler.connection.isOpen())
        .hasSize(SOCKETS - (int) EventLoop.IDLE_SWEEP.toSeconds())
        .allSatisfy(handler -> assertThat(handler.looks.get()).isPositive());
    assertThat(transport.connections()).isEqualTo(SOCKETS - (int) EventLoop.IDLE_SWEEP.toSeconds());
  }

  @Test
  void other_work_waits_for_one_slice_of_a_long_sweep_only() throws Exception {
    everyLookTakes(A_LOOK);
    var lookedAtBefore = new AtomicInteger();
    var first = new AtomicBoolean();
    onLook =
        () -> {
          if (first.compareAndSet(false, true)) {
            loop().execute(() -> lookedAtBefore.set(looks()));
          }
        };

    second();
    pauses(SOCKETS / A_SLICE);

    assertThat(lookedAtBefore.get()).isEqualTo(A_SLICE);
    assertThat(handlers).allSatisfy(handler -> assertThat(handler.looks.get()).isPositive());
  }

  @Test
  void a_long_sweep_pauses_between_its_slices() throws Exception {
    everyLookTakes(A_LOOK);

    second();
    inLoop(() -> {});
    assertThat(looks()).isEqualTo(A_SLICE);
    pauses(1);

    assertThat(looks()).isEqualTo(2 * A_SLICE);
  }

  @Test
  void a_sweep_that_takes_longer_than_its_second_does_not_pause() throws Exception {
    everyLookTakes(Duration.ofSeconds(1).plusNanos(1));

    second();

    Eventually.within(
        PATIENCE,
        () ->
            assertThat(handlers)
                .allSatisfy(handler -> assertThat(handler.looks.get()).isPositive()));
  }

  @Test
  void a_connection_that_closes_between_two_slices_hides_no_other() throws Exception {
    everyLookTakes(A_LOOK);
    var leaving = handlers.subList(5, 20);
    var first = new AtomicBoolean();
    onLook =
        () -> {
          if (first.compareAndSet(false, true)) {
            loop()
                .execute(
                    () -> leaving.forEach(handler -> handler.connection.close(CloseCause.OURS)));
          }
        };

    second();
    pauses(SOCKETS / A_SLICE);

    assertThat(handlers)
        .filteredOn(handler -> handler.connection.isOpen())
        .hasSize(SOCKETS - leaving.size())
        .allSatisfy(handler -> assertThat(handler.looks.get()).isPositive());
  }

  private void everyLookTakes(Duration time) throws Exception {
    inLoop(() ->
        handlers.forEach(handler -> {
          handler.takes = time;
          handler.connection.watch();
        }));
  }

  private int looks() {
    return handlers.stream().mapToInt(handler -> handler.looks.get()).sum();
  }

  private EventLoop loop() {
    return transport.loops().getFirst();
  }

  private void second() throws Exception {
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    // The first turn may have begun before; the second one ends after a sweep.
    inLoop(() -> {});
    inLoop(() -> {});
    inLoop(() -> {});
  }

  private void pauses(int count) throws Exception {
    for (int pause = 0; pause < count; pause++) {
      nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(4));
      inLoop(() -> {});
      inLoop(() -> {});
    }
  }

  private void inLoop(Runnable task) throws Exception {
    var done = new CountDownLatch(1);
    loop()
        .execute(() -> {
          task.run();
          done.countDown();
        });
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
  }

  private final class Handler implements Receiver {
    private final Connection connection;
    private final AtomicInteger looks = new AtomicInteger();
    private volatile boolean busy;
    private volatile Duration takes = Duration.ZERO;

    Handler(Connection connection) {
      this.connection = connection;
    }

    @Override
    public void received(ByteBuffer input) {
      input.position(input.limit());
    }

    @Override
    public boolean swept(long nowNanos) {
      looks.incrementAndGet();
      onLook.run();
      nanos.addAndGet(takes.toNanos());
      return busy;
    }
  }
}
