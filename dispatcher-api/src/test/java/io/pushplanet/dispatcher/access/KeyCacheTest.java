package io.pushplanet.dispatcher.access;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.benmanes.caffeine.cache.LoadingCache;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.access.KeyCache.Loader;
import io.pushplanet.dispatcher.limit.Bulkhead;
import io.pushplanet.dispatcher.problem.ProblemCode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class KeyCacheTest {
  private static final Duration KNOWN = Duration.ofHours(12);
  private static final Duration UNKNOWN = Duration.ofSeconds(5);
  private static final StoredKey KEY = new StoredKey("k", "shop", new byte[32], "send", null);

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicInteger asked = new AtomicInteger();
  private volatile boolean away;
  private volatile boolean broken;

  private final LoadingCache<String, Optional<StoredKey>> cache =
      KeyCache.cache(
          KNOWN,
          UNKNOWN,
          nanos::get,
          new Loader(
              this::read,
              new Bulkhead(
                  2, 10, Duration.ofSeconds(1), ProblemCode.DATABASE_UNAVAILABLE, "busy")));

  @Test
  void a_key_in_use_outlives_an_outage_of_mysql() {
    assertThat(cache.get("k")).contains(KEY);
    pass(KNOWN.dividedBy(2).plusMinutes(1));
    assertThat(cache.get("k")).contains(KEY);
    Eventually.within(Duration.ofSeconds(10), () -> assertThat(asked).hasValue(2));
    // The key is put into the cache a moment after it was read.
    Eventually.within(
        Duration.ofSeconds(10), () -> assertThat(cache.policy().refreshes()).isEmpty());

    away = true;
    pass(KNOWN.dividedBy(2).plusMinutes(1));
    for (int i = 0; i < 3; i++) {
      assertThat(cache.get("k")).contains(KEY);
    }
    assertThat(cache.getIfPresent("k")).contains(KEY);

    pass(KNOWN);
    assertThat(cache.getIfPresent("k")).as("not for ever").isNull();
  }

  @Test
  void while_mysql_is_away_one_key_is_read_a_second_and_the_log_says_nothing() {
    List<LogRecord> told = new CopyOnWriteArrayList<>();
    Logger caffeine = Logger.getLogger("com.github.benmanes.caffeine");
    Handler listener =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            told.add(line);
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    caffeine.addHandler(listener);
    try {
      assertThat(cache.get("k")).contains(KEY);
      away = true;
      pass(KNOWN.dividedBy(2).plusMinutes(1));
      assertThat(cache.get("k")).contains(KEY);
      Eventually.within(
          Duration.ofSeconds(10),
          () -> {
            assertThat(asked).hasValue(2);
            assertThat(cache.policy().refreshes()).isEmpty();
          });
      for (int i = 0; i < 100; i++) {
        assertThat(cache.get("k")).contains(KEY);
      }
      assertThat(asked).hasValueLessThan(50);
    } finally {
      caffeine.removeHandler(listener);
    }
    assertThat(told).isEmpty();
  }

  @Test
  void a_reading_that_breaks_is_over() {
    assertThat(cache.get("k")).contains(KEY);
    broken = true;
    pass(KNOWN.dividedBy(2).plusMinutes(1));

    assertThat(cache.get("k")).contains(KEY);

    Eventually.within(
        Duration.ofSeconds(10),
        () -> {
          assertThat(asked).hasValue(2);
          assertThat(cache.policy().refreshes()).isEmpty();
        });
  }

  @Test
  void an_unknown_key_is_looked_up_again_soon() {
    assertThat(cache.get("made-up")).isEmpty();
    assertThat(cache.get("made-up")).isEmpty();
    assertThat(asked).hasValue(1);

    pass(UNKNOWN.plusMillis(1));
    assertThat(cache.get("made-up")).isEmpty();
    assertThat(asked).hasValue(2);
  }

  private Optional<StoredKey> read(String id) {
    asked.incrementAndGet();
    if (away) {
      throw new IllegalStateException("MySQL is away");
    }
    if (broken) {
      throw new StackOverflowError("broken");
    }
    return id.equals(KEY.id()) ? Optional.of(KEY) : Optional.empty();
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
