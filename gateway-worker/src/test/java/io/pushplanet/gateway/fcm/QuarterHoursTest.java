package io.pushplanet.gateway.fcm;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class QuarterHoursTest {
  private static final Duration LONG = Duration.ofHours(6);

  private final MutableClock clock = MutableClock.started();

  private QuarterHours quarters(String margin, String spread) {
    MapConfigurationPropertySource given = new MapConfigurationPropertySource();
    given.put("gateway.fcm.quarter-hour-margin", margin);
    given.put("gateway.fcm.quarter-hour-spread", spread);
    return new QuarterHours(
        new Binder(given).bindOrCreate("gateway.fcm", FcmSettings.class), clock, new Random(7));
  }

  private void at(String time) {
    clock.advance(Duration.between(clock.instant(), Instant.parse(time)));
  }

  private Push push(Urgency urgency, Duration ttl, int audience) {
    return aPush(clock)
        .delivered(new DeliveryOptions(Route.VENDOR, ttl, urgency, null, Duration.ofSeconds(5)))
        .toFcm("d1", "token")
        .build()
        .ofAudience(audience);
  }

  private Push bulk(Duration ttl) {
    return push(Urgency.NORMAL, ttl, 10_000);
  }

  @ParameterizedTest
  @CsvSource({
    "2026-11-21T09:57:59.999Z, ",
    "2026-11-21T09:58:00Z, PT4M",
    "2026-11-21T09:59:59Z, PT2M1S",
    "2026-11-21T10:00:00Z, PT2M",
    "2026-11-21T10:01:59.999Z, PT0.001S",
    "2026-11-21T10:02:00Z, ",
    "2026-11-21T10:14:00Z, PT3M",
    "2026-11-21T10:31:00Z, PT1M",
    "2026-11-21T10:45:30Z, PT1M30S",
    "2026-12-31T23:59:00Z, PT3M",
    "1969-12-31T23:59:00Z, PT3M"
  })
  void bulk_waits_until_two_minutes_after_the_quarter(String time, Duration wait) {
    at(time);

    assertThat(quarters("2m", "0s").wait(bulk(LONG))).isEqualTo(Optional.ofNullable(wait));
  }

  @Test
  void waiting_bulk_leaves_spread_over_five_minutes() {
    at("2026-11-21T10:00:00Z");
    QuarterHours quarters = quarters("2m", "5m");
    int[] minutes = new int[6];

    for (int i = 0; i < 5_000; i++) {
      Duration afterwards = quarters.wait(bulk(LONG)).orElseThrow().minusMinutes(2);
      minutes[(int) afterwards.toMinutes()]++;
    }

    for (int minute = 0; minute < 5; minute++) {
      assertThat(minutes[minute]).isBetween(850, 1_150);
    }
    assertThat(minutes[5]).isLessThan(5);
  }

  @Test
  void high_and_small_audiences_never_wait() {
    at("2026-11-21T10:00:00Z");
    QuarterHours quarters = quarters("2m", "5m");

    assertThat(quarters.wait(push(Urgency.HIGH, LONG, 1_000_000))).isEmpty();
    assertThat(quarters.wait(push(Urgency.NORMAL, LONG, 9_999))).isEmpty();
    assertThat(quarters.wait(push(Urgency.NORMAL, LONG, 0))).isEmpty();
    assertThat(quarters.wait(push(Urgency.NORMAL, LONG, 10_000))).isPresent();
  }

  @Test
  void a_message_that_would_expire_meanwhile_leaves_now() {
    at("2026-11-21T10:00:00Z");
    QuarterHours quarters = quarters("2m", "5m");

    // Two minutes, the quarter that the retry schedule may add, and a moment to send it.
    assertThat(quarters.wait(bulk(Duration.ofSeconds(155)))).isEmpty();
    assertThat(quarters.wait(bulk(Duration.ofSeconds(156)))).contains(Duration.ofMinutes(2));
    assertThat(quarters.wait(bulk(Duration.ZERO))).isEmpty();
  }

  @Test
  void a_clock_that_jumps_is_believed() {
    QuarterHours quarters = quarters("2m", "0s");
    at("2026-11-21T10:16:00Z");
    assertThat(quarters.wait(bulk(LONG))).contains(Duration.ofMinutes(1));

    at("2026-11-21T09:50:00Z");
    assertThat(quarters.wait(bulk(LONG))).isEmpty();

    at("2027-03-28T01:00:00Z");
    assertThat(quarters.wait(bulk(LONG))).contains(Duration.ofMinutes(2));
  }

  @Test
  void no_message_waits_without_a_margin() {
    at("2026-11-21T10:00:00Z");

    assertThat(quarters("0s", "5m").wait(bulk(LONG))).isEmpty();
  }

  @Test
  void a_message_that_comes_back_never_falls_into_the_next_quarter() {
    at("2026-11-21T09:58:00Z");
    QuarterHours quarters = quarters("2m", "5m");

    for (int i = 0; i < 1_000; i++) {
      Duration wait = quarters.wait(bulk(LONG)).orElseThrow();
      assertThat(wait.plus(wait.dividedBy(4))).isLessThan(Duration.ofMinutes(15));
    }
  }
}
