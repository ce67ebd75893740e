package io.pushplanet.dispatcher.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class BodiesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MEGABYTE = 1024 * 1024;
  private static final AppId SHOP = new AppId("shop");
  private static final AppId OTHER = new AppId("other");

  private final AtomicLong nanos = new AtomicLong();

  /// Memory for the bodies of four full batches. A wait for it ends at once.
  private final Bodies bodies =
      new Bodies(64L * MEGABYTE, Duration.ZERO, Duration.ofSeconds(20), nanos::get);

  /// Gives one byte for each read, and lets a second pass before each.
  private InputStream dripping(int bytes) {
    return new InputStream() {
      private int left = bytes;

      @Override
      public int read() {
        throw new UnsupportedOperationException();
      }

      @Override
      public int read(byte[] into, int from, int length) {
        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        if (left == 0) {
          return -1;
        }
        left--;
        into[from] = 'x';
        return 1;
      }
    };
  }

  private static void isRefused(ProblemCode code, ThrowingCallable reading) {
    assertThatThrownBy(reading)
        .isInstanceOfSatisfying(
            ProblemException.class, problem -> assertThat(problem.code()).isEqualTo(code));
  }

  @Test
  void a_body_is_read_completely_with_or_without_a_known_length() throws IOException {
    for (int length : new int[] {0, 1, 8 * 1024, 8 * 1024 + 1, 100_000, MEGABYTE}) {
      byte[] sent = new byte[length];
      Arrays.fill(sent, (byte) 'a');

      assertThat(bodies.read(SHOP, new ByteArrayInputStream(sent), length, MEGABYTE))
          .isEqualTo(sent);
      assertThat(bodies.read(SHOP, new ByteArrayInputStream(sent), -1, MEGABYTE)).isEqualTo(sent);
    }
    assertThat(bodies.read(SHOP, new ByteArrayInputStream(new byte[10]), 100, MEGABYTE))
        .hasSize(10);
  }

  @Test
  void a_body_that_is_too_long_is_read_no_further() throws IOException {
    ByteArrayInputStream body = new ByteArrayInputStream(new byte[10 * MEGABYTE]);

    isRefused(ProblemCode.BODY_TOO_LARGE, () -> bodies.read(SHOP, body, -1, MEGABYTE));
    assertThat(body.available()).isEqualTo(9 * MEGABYTE - 1);
  }

  @Test
  void a_slow_body_is_given_up_after_its_time_whatever_its_size() throws IOException {
    assertThat(bodies.read(SHOP, dripping(21), 21, MEGABYTE)).hasSize(21);
    for (int length : new int[] {1_000, 100_000, -1}) {
      long before = nanos.get();

      isRefused(
          ProblemCode.BODY_TOO_SLOW, () -> bodies.read(SHOP, dripping(1_000), length, MEGABYTE));
      assertThat(Duration.ofNanos(nanos.get() - before)).isEqualTo(Duration.ofSeconds(22));
    }
  }

  @Test
  void a_caller_that_leaves_within_its_body_gets_no_answer() {
    InputStream gone =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("reset");
          }
        };

    for (int length : new int[] {100, 100_000}) {
      assertThatThrownBy(() -> bodies.read(SHOP, gone, length, MEGABYTE))
          .isExactlyInstanceOf(IOException.class)
          .hasMessage("reset");
    }
  }

  @Test
  void slow_uploads_of_one_app_delay_neither_other_apps_nor_small_bodies() throws Exception {
    CountDownLatch ends = new CountDownLatch(1);
    AtomicInteger coming = new AtomicInteger();
    List<Future<byte[]>> slow = new ArrayList<>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        for (int i = 0; i < 2; i++) {
          slow.add(
              callers.submit(
                  () -> bodies.read(SHOP, new Held(ends, coming), MEGABYTE - 1, MEGABYTE)));
        }
        Eventually.within(PATIENCE, () -> assertThat(coming).hasValue(2));

        isRefused(
            ProblemCode.OVERLOADED,
            () -> bodies.read(SHOP, new ByteArrayInputStream(new byte[9_000]), 9_000, MEGABYTE));
        byte[] small =
            bodies.read(SHOP, new ByteArrayInputStream(new byte[8_000]), 8_000, MEGABYTE);
        byte[] large =
            bodies.read(OTHER, new ByteArrayInputStream(new byte[MEGABYTE]), MEGABYTE, MEGABYTE);
        assertThat(small).hasSize(8_000);
        assertThat(large).hasSize(MEGABYTE);
      } finally {
        ends.countDown();
      }
      for (Future<byte[]> one : slow) {
        assertThat(one.get()).isEmpty();
      }
    }
  }

  /// Many clients never send a length.
  @Test
  void a_body_of_unknown_length_has_room_for_much_only_when_much_comes() throws Exception {
    CountDownLatch ends = new CountDownLatch(1);
    AtomicInteger coming = new AtomicInteger();
    List<Future<byte[]>> unknown = new ArrayList<>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        for (int i = 0; i < 20; i++) {
          unknown.add(
              callers.submit(() -> bodies.read(SHOP, new Held(ends, coming), -1, MEGABYTE)));
        }
        Eventually.within(PATIENCE, () -> assertThat(coming).hasValue(20));
      } finally {
        ends.countDown();
      }
      for (Future<byte[]> one : unknown) {
        assertThat(one.get()).isEmpty();
      }
    }
  }

  /// A body that gives nothing until it ends.
  private static final class Held extends InputStream {
    private final CountDownLatch ends;
    private final AtomicInteger coming;

    Held(CountDownLatch ends, AtomicInteger coming) {
      this.ends = ends;
      this.coming = coming;
    }

    @Override
    public int read() throws IOException {
      coming.incrementAndGet();
      try {
        ends.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      return -1;
    }
  }
}
