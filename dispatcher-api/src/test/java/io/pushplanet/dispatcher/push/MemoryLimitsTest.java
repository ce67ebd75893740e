package io.pushplanet.dispatcher.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MemoryLimitsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MEGABYTE = 1024 * 1024;

  private static final AppId SHOP = new AppId("shop");

  /// Memory for the bodies of four full batches: an app gets two of them, and four more of its
  /// batches may wait.
  private final MemoryLimits limits = new MemoryLimits(192L * MEGABYTE, PATIENCE);

  @Test
  void two_full_batches_run_four_wait_and_the_next_is_refused() throws Exception {
    AtomicInteger atWork = new AtomicInteger();
    CountDownLatch ends = new CountDownLatch(1);
    List<Future<Object>> batches = new ArrayList<>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        for (int i = 0; i < 2; i++) {
          batches.add(
              callers.submit(() -> limits.forBatch(SHOP, MEGABYTE - 1, () -> work(atWork, ends))));
        }
        Eventually.within(PATIENCE, () -> assertThat(atWork).hasValue(2));

        List<Future<Object>> more = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
          more.add(
              callers.submit(() -> limits.forBatch(SHOP, MEGABYTE - 1, () -> work(atWork, ends))));
        }
        Eventually.within(PATIENCE, () -> assertThat(more).filteredOn(Future::isDone).hasSize(1));
        Future<Object> refused = more.stream().filter(Future::isDone).findFirst().orElseThrow();
        assertThatThrownBy(refused::get)
            .cause()
            .isInstanceOfSatisfying(
                ProblemException.class,
                problem -> {
                  assertThat(problem.code()).isEqualTo(ProblemCode.OVERLOADED);
                  assertThat(problem.headers()).containsEntry("Retry-After", "1");
                });
        assertThat(atWork).hasValue(2);
        assertThat(limits.forDevices(SHOP, toDevices(64), () -> "small")).isEqualTo("small");
      } finally {
        ends.countDown();
      }
    }
    assertThat(atWork).hasValue(6);
    assertThat(limits.forDevices(SHOP, toDevices(1_000), () -> "large")).isEqualTo("large");
  }

  /// Its body is small, but its devices' tokens are not.
  @Test
  void messages_to_many_devices_wait_for_each_other_and_small_ones_do_not() throws Exception {
    AtomicInteger atWork = new AtomicInteger();
    CountDownLatch ends = new CountDownLatch(1);
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Object> first =
          callers.submit(() -> limits.forDevices(SHOP, toDevices(500), () -> work(atWork, ends)));
      Eventually.within(PATIENCE, () -> assertThat(atWork).hasValue(1));
      Future<Object> second =
          callers.submit(() ->
              limits.forBatch(
                  SHOP,
                  100,
                  () -> limits.forDevices(SHOP, toDevices(100), () -> work(atWork, ends))));
      try {
        assertThat(
                limits.forBatch(
                    SHOP, 100, () -> limits.forDevices(SHOP, toDevices(64), () -> "small")))
            .isEqualTo("small");
        assertThat(second).isNotDone();
        assertThat(atWork).hasValue(1);
      } finally {
        ends.countDown();
      }
      assertThat(first.get()).isEqualTo("done");
      assertThat(second.get()).isEqualTo("done");
    }
  }

  private static Object work(AtomicInteger atWork, CountDownLatch ends) {
    atWork.incrementAndGet();
    try {
      ends.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return "done";
  }

  private static Audience toDevices(int count) {
    return new Audience.Devices(
        IntStream.range(0, count).mapToObj(i -> new DeviceId("d" + i)).toList());
  }
}
