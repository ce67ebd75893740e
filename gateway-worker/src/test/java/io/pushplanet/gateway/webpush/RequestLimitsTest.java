package io.pushplanet.gateway.webpush;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.Priority;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestLimitsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String SLOW = "https://slow.example";
  private static final String QUICK = "https://quick.example";

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch answered = new CountDownLatch(1);

  @AfterEach
  void answer() {
    answered.countDown();
    threads.close();
  }

  @Test
  void a_slow_service_has_its_own_requests_wait_and_no_others() throws Exception {
    RequestLimits limits = new RequestLimits(2, 1, Duration.ZERO);
    busy(limits, SLOW);

    assertThat(limits.take(SLOW, Priority.HIGH, () -> "sent")).isEmpty();
    assertThat(limits.take(QUICK, Priority.HIGH, () -> "sent")).contains("sent");
  }

  @Test
  void all_together_have_no_more_than_there_are_connections() throws Exception {
    RequestLimits limits = new RequestLimits(1, 1, Duration.ZERO);
    busy(limits, SLOW);

    assertThat(limits.take(QUICK, Priority.HIGH, () -> "sent")).isEmpty();
  }

  @Test
  void high_goes_before_a_normal_request_that_came_first() throws Exception {
    RequestLimits limits = new RequestLimits(10, 1, PATIENCE);
    Future<?> inside = busy(limits, SLOW);
    List<Priority> sent = new CopyOnWriteArrayList<>();
    List<Thread> waiting =
        List.of(
            waits(limits, Priority.NORMAL, sent),
            waits(limits, Priority.NORMAL, sent),
            waits(limits, Priority.HIGH, sent));

    answered.countDown();
    inside.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    for (Thread thread : waiting) {
      assertThat(thread.join(PATIENCE)).isTrue();
    }

    assertThat(sent).containsExactly(Priority.HIGH, Priority.NORMAL, Priority.NORMAL);
  }

  @Test
  void a_failed_request_gives_its_room_back() {
    RequestLimits limits = new RequestLimits(1, 1, Duration.ZERO);

    for (int i = 0; i < 2; i++) {
      Future<Optional<String>> failing =
          threads.submit(() ->
              limits.take(
                  SLOW,
                  Priority.HIGH,
                  () -> {
                    throw new IllegalStateException("a bug");
                  }));
      assertThat(failing).failsWithin(PATIENCE).withThrowableThat().withMessageContaining("a bug");
    }
  }

  /// Takes room until it is answered.
  private Future<?> busy(RequestLimits limits, String origin) throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    Future<?> inside =
        threads.submit(() ->
            limits.take(
                origin,
                Priority.NORMAL,
                () -> {
                  began.countDown();
                  try {
                    return answered.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                }));
    assertThat(began.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return inside;
  }

  /// Returns once the thread waits.
  private static Thread waits(RequestLimits limits, Priority priority, List<Priority> sent) {
    Thread thread =
        Thread.ofPlatform().start(() -> limits.take(SLOW, priority, () -> sent.add(priority)));
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    return thread;
  }
}
