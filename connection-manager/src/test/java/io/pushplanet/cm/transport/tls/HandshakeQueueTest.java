package io.pushplanet.cm.transport.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.tls.HandshakeQueue.Handshake;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HandshakeQueueTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private final List<Integer> done = new CopyOnWriteArrayList<>();
  private final List<Integer> givenUp = new CopyOnWriteArrayList<>();

  @Test
  void memcached_1139_the_newest_goes_first_and_a_full_line_gives_up_its_oldest() {
    try (var queue = new HandshakeQueue(1, 3)) {
      for (int number = 1; number <= 5; number++) {
        assertThat(queue.add(handshake(number, true))).isEqualTo(number <= 3);
      }

      queue.start();

      Eventually.within(PATIENCE, () -> assertThat(done).containsExactly(5, 4, 3));
      assertThat(givenUp).containsExactly(1, 2);
      assertThat(queue.givenUp()).isEqualTo(2);
    }
  }

  @Test
  void a_handshake_whose_client_has_closed_costs_nothing() {
    try (var queue = new HandshakeQueue(1, 10)) {
      for (int number = 1; number <= 10; number++) {
        queue.add(handshake(number, number == 4));
      }

      queue.start();

      Eventually.within(PATIENCE, () -> assertThat(queue.abandoned()).isEqualTo(9));
      assertThat(done).containsExactly(4);
    }
  }

  @Test
  void openziti_1904_no_more_are_worked_on_at_once_than_there_are_threads() {
    var atOnce = new AtomicInteger();
    var most = new AtomicInteger();
    var go = new CountDownLatch(1);
    try (var queue = new HandshakeQueue(2, 100)) {
      queue.start();
      for (int number = 0; number < 50; number++) {
        queue.add(
            new Handshake(
                () -> {
                  most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                  awaited(go);
                  atOnce.decrementAndGet();
                },
                () -> true,
                () -> done.add(1),
                () -> givenUp.add(1)));
      }
      Eventually.within(
          PATIENCE,
          () -> {
            assertThat(queue.running()).isEqualTo(2);
            assertThat(atOnce.get()).isEqualTo(2);
          });

      go.countDown();

      Eventually.within(PATIENCE, () -> assertThat(done).hasSize(50));
      assertThat(most.get()).isEqualTo(2);
      assertThat(givenUp).isEmpty();
    }
  }

  @Test
  void a_handshake_that_fails_does_not_take_its_thread_down() {
    try (var queue = new HandshakeQueue(1, 10)) {
      queue.start();
      queue.add(
          new Handshake(
              () -> {
                throw new IllegalStateException("for the test");
              },
              () -> true,
              () -> done.add(1),
              () -> {}));
      queue.add(handshake(2, true));

      Eventually.within(PATIENCE, () -> assertThat(done).containsExactlyInAnyOrder(1, 2));
    }
  }

  @Test
  void a_thread_goes_on_when_the_end_of_a_handshake_cannot_be_told() {
    Runnable fails =
        () -> {
          throw new OutOfMemoryError("for the test");
        };
    try (var queue = new HandshakeQueue(1, 10)) {
      queue.add(handshake(1, true));
      queue.add(new Handshake(() -> {}, () -> true, fails, () -> {}));
      queue.add(new Handshake(fails, () -> true, () -> {}, fails));

      queue.start();

      Eventually.within(PATIENCE, () -> assertThat(done).containsExactly(1));
    }
  }

  @Test
  void a_handshake_that_ends_in_an_error_is_given_up_and_its_thread_goes_on() {
    try (var queue = new HandshakeQueue(1, 10)) {
      queue.start();
      queue.add(
          new Handshake(
              () -> {
                throw new NoClassDefFoundError("for the test");
              },
              () -> true,
              () -> done.add(1),
              () -> givenUp.add(1)));
      queue.add(handshake(2, true));

      Eventually.within(
          PATIENCE,
          () -> {
            assertThat(done).containsExactly(2);
            assertThat(givenUp).containsExactly(1);
          });
    }
  }

  /// Logging an OutOfMemoryError may fail in the same way.
  @Test
  void a_thread_goes_on_after_an_error_that_cannot_be_logged() {
    Runnable fails =
        () -> {
          throw new Unspeakable();
        };
    try (var queue = new HandshakeQueue(1, 10)) {
      queue.add(handshake(1, true));
      queue.add(new Handshake(fails, () -> true, () -> {}, () -> givenUp.add(2)));

      queue.start();

      Eventually.within(PATIENCE, () -> assertThat(done).containsExactly(1));
      assertThat(givenUp).containsExactly(2);
    }
  }

  private static final class Unspeakable extends Error {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw this;
    }
  }

  private Handshake handshake(int number, boolean wanted) {
    return new Handshake(() -> {}, () -> wanted, () -> done.add(number), () -> givenUp.add(number));
  }

  private static void awaited(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
