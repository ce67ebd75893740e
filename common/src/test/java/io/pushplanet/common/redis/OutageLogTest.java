package io.pushplanet.common.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.LogLines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutageLogTest {
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
  private final OutageLog outage = new OutageLog(nanos::get);
  private final LogLines lines = new LogLines(OutageLog.class);

  @AfterEach
  void close() {
    lines.close();
  }

  @Test
  void an_outage_is_logged_when_it_begins_twice_a_minute_and_when_it_is_over() {
    for (int second = 0; second <= 60; second++) {
      outage.failed(new IllegalStateException("no Redis"));
      nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    }
    outage.connected();

    String away = "event=redis_connect_failed attempts=%d seconds=%d reason=\"%s\"";
    String why = "java.lang.IllegalStateException: no Redis";
    assertThat(lines.said())
        .isEqualTo(
            List.of(
                away.formatted(1, 0, why),
                away.formatted(31, 30, why),
                away.formatted(61, 60, why),
                "event=redis_connected failed_attempts=61 seconds=61"));
  }

  @Test
  void the_next_outage_is_logged_like_the_first() {
    outage.failed(new IllegalStateException("no Redis"));
    outage.connected();
    outage.failed(new IllegalStateException("no Redis"));

    assertThat(lines.said())
        .satisfiesExactly(
            began -> assertThat(began).startsWith("event=redis_connect_failed attempts=1 "),
            over -> assertThat(over).startsWith("event=redis_connected failed_attempts=1 "),
            again -> assertThat(again).startsWith("event=redis_connect_failed attempts=1 "));
  }

  @Test
  void a_connection_that_is_made_at_once_says_nothing() {
    outage.connected();

    assertThat(lines.said()).isEmpty();
  }
}
