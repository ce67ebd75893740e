package io.pushplanet.dispatcher.audience;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;

class AudienceCountsTest {
  private static final AppId SHOP = new AppId("shop");
  private static final Audience NEWS = new Audience.Topic("news");
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Database database = new Database();
  private final AtomicLong nanos = new AtomicLong();
  private final AudienceCounts counts = counts(Runnable::run);

  private AudienceCounts counts(Executor counters) {
    return new AudienceCounts(database, nanos::get, counters, PATIENCE);
  }

  /// Its topics have one size each time it is asked. Where it waits, only [#SHOP] has to.
  private final class Database implements AudienceMapper {
    final AtomicInteger asked = new AtomicInteger();
    final CountDownLatch answers = new CountDownLatch(1);
    volatile int size = 7;
    volatile boolean waits;
    volatile boolean away;
    volatile Duration takes = Duration.ofSeconds(1);

    @Override
    public int countTopic(String app, String topic, int most) {
      asked.incrementAndGet();
      nanos.addAndGet(takes.toNanos());
      if (waits && app.equals(SHOP.value())) {
        try {
          answers.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      if (away) {
        throw new DataAccessResourceFailureException("away");
      }
      return size;
    }

    @Override
    public int countTag(String app, String tag, int most) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int countAll(String app, int most) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int countUsers(String app, Collection<String> users, int most) {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<DeviceOfUser> devicesOf(String app, Collection<String> users, int most) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Channel> channel(String app, String channel) {
      throw new UnsupportedOperationException();
    }
  }

  @Test
  void all_who_ask_for_one_audience_at_once_share_a_count() throws Exception {
    AudienceCounts counts = counts(Thread::startVirtualThread);
    database.waits = true;
    List<Future<OptionalInt>> answers = new ArrayList<>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 200; i++) {
        answers.add(callers.submit(() -> about(counts, SHOP, NEWS)));
      }
      Eventually.within(PATIENCE, () -> assertThat(database.asked).hasValue(1));
      database.answers.countDown();

      for (Future<OptionalInt> answer : answers) {
        assertThat(answer.get()).hasValue(7);
      }
    }
    assertThat(about(counts, SHOP, NEWS)).hasValue(7);
    assertThat(database.asked).hasValue(1);
    assertThat(about(counts, new AppId("other"), NEWS)).hasValue(7);
    assertThat(database.asked).hasValue(2);
  }

  @Test
  void an_app_with_many_slow_counts_does_not_delay_the_count_of_another() throws Exception {
    int line = 1 + AudienceCounts.MAX_IN_LINE / 2;
    AudienceCounts counts = counts(Thread::startVirtualThread);
    database.waits = true;
    List<Future<OptionalInt>> answers = new ArrayList<>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        for (int i = 0; i < line + 5; i++) {
          Audience topic = new Audience.Topic("t" + i);
          answers.add(callers.submit(() -> about(counts, SHOP, topic)));
        }
        Eventually.within(
            PATIENCE, () -> assertThat(answers).filteredOn(Future::isDone).hasSize(5));

        assertThat(about(counts, new AppId("other"), NEWS)).hasValue(7);
        assertThat(answers).filteredOn(Future::isDone).hasSize(5);
      } finally {
        database.answers.countDown();
      }
      int counted = 0;
      for (Future<OptionalInt> answer : answers) {
        counted += answer.get().isPresent() ? 1 : 0;
      }
      assertThat(counted).isEqualTo(line);
    }
  }

  @Test
  void a_count_is_good_for_twenty_times_as_long_as_it_took() {
    database.takes = Duration.ofMillis(10);
    assertThat(about(counts, SHOP, NEWS)).hasValue(7);
    database.size = 8;

    later(Duration.ofMillis(199));
    assertThat(about(counts, SHOP, NEWS)).hasValue(7);
    later(Duration.ofMillis(1));

    assertThat(about(counts, SHOP, NEWS)).hasValue(8);
    assertThat(database.asked).hasValue(2);
  }

  @Test
  void a_count_that_took_long_is_good_for_no_longer_than_others() {
    assertThat(about(counts, SHOP, NEWS)).hasValue(7);
    database.size = 8;

    later(AudienceCounts.FRESH);

    assertThat(about(counts, SHOP, NEWS)).hasValue(8);
  }

  @Test
  void the_former_count_is_told_while_the_next_one_takes_long() {
    List<Runnable> begun = new ArrayList<>();
    AtomicReference<Executor> counters = new AtomicReference<>(Runnable::run);
    AudienceCounts counts = counts(task -> counters.get().execute(task));
    assertThat(about(counts, SHOP, NEWS)).hasValue(7);
    database.size = 8;
    later(AudienceCounts.FRESH);

    counters.set(begun::add);
    assertThat(about(counts, SHOP, NEWS)).hasValue(7);
    assertThat(about(counts, SHOP, NEWS)).hasValue(7);
    counters.set(Runnable::run);
    begun.forEach(Runnable::run);

    assertThat(about(counts, SHOP, NEWS)).hasValue(8);
    assertThat(database.asked).hasValue(2);
  }

  @Test
  void the_former_count_is_given_while_counting_fails() {
    assertThat(about(counts, SHOP, NEWS)).hasValue(7);
    database.away = true;

    for (int i = 2; i < 30; i++) {
      later(AudienceCounts.FRESH);
      assertThat(about(counts, SHOP, NEWS)).hasValue(7);
      assertThat(database.asked).hasValue(i);
    }
  }

  @Test
  void each_request_learns_of_a_failed_count_and_the_log_now_and_then() {
    database.away = true;
    database.takes = Duration.ZERO;
    try (LogLines log = new LogLines(AudienceCounts.class)) {
      for (int i = 0; i < 100; i++) {
        assertThat(about(counts, SHOP, new Audience.Topic("t" + i))).isEmpty();
      }
      assertThat(log.said())
          .containsExactly(
              "event=audience_not_counted reason=\"DataAccessResourceFailureException\"");

      later(AudienceCounts.QUIET);
      for (int i = 0; i < 100; i++) {
        assertThat(about(counts, SHOP, new Audience.Topic("later" + i))).isEmpty();
      }
      assertThat(log.said()).hasSize(2);
    }
  }

  @Test
  void an_audience_is_counted_soon_after_a_failed_count() {
    database.away = true;
    assertThat(about(counts, SHOP, NEWS)).isEmpty();
    database.away = false;
    assertThat(about(counts, SHOP, NEWS)).isEmpty();

    later(AudienceCounts.FRESH);

    assertThat(about(counts, SHOP, NEWS)).hasValue(7);
  }

  /// Like a batch that names many audiences while MySQL is slow.
  @Test
  void a_request_waits_for_all_its_counts_as_long_as_for_one() {
    database.takes = PATIENCE.dividedBy(2);
    long until = counts.waitUntilNanos();

    assertThat(counts.about(SHOP, NEWS, until)).hasValue(7);
    assertThat(counts.about(SHOP, new Audience.Topic("sports"), until)).hasValue(7);
    assertThat(counts.about(SHOP, new Audience.Topic("films"), until)).isEmpty();

    assertThat(database.asked).hasValue(2);
    assertThat(counts.about(SHOP, NEWS, until)).as("known before").hasValue(7);
  }

  private static OptionalInt about(AudienceCounts counts, AppId app, Audience audience) {
    return counts.about(app, audience, counts.waitUntilNanos());
  }

  private void later(Duration by) {
    nanos.addAndGet(by.toNanos() + 1);
  }
}
