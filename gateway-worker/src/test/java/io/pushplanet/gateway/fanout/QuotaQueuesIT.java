package io.pushplanet.gateway.fanout;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.fcm.FcmQuota;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class QuotaQueuesIT {
  private static final String LANE = "push.fcm.normal";
  private static final String REASON = "project_quota_rest";
  private static final Passage.Quota SHOPS = new Passage.Quota(new AppId("shop"), LANE);

  private final RealServers servers = RealServers.start();
  private final MutableClock clock = new MutableClock(Instant.parse("2026-11-28T10:00:00Z"));
  private final AtomicLong nanos = new AtomicLong();
  private final LaterStore later = new LaterStore(servers.database());

  @BeforeEach
  void empty() {
    servers.sql().update("DELETE FROM later");
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void a_quota_is_full_while_the_last_message_that_waits_for_it_is_due_long_from_now() {
    waiting("shop", LANE, REASON, Duration.ofSeconds(1));
    waiting("shop", LANE, REASON, QuotaQueues.AHEAD.plusMillis(1));
    waiting("shop", LANE, REASON, Duration.ofSeconds(2));
    assertThat(isFull(SHOPS)).isTrue();

    clock.advance(Duration.ofMillis(1));

    assertThat(isFull(SHOPS)).isFalse();
  }

  @Test
  void what_waits_for_something_else_fills_no_quota() {
    waiting("shop", LANE, "quarter_hour", Duration.ofMinutes(5));
    waiting("shop", "push.fcm.high", REASON, Duration.ofMinutes(5));
    waiting("bank", LANE, REASON, Duration.ofMinutes(5));

    assertThat(isFull(SHOPS)).isFalse();
    assertThat(isFull(new Passage.Quota(new AppId("bank"), LANE))).isTrue();
  }

  @Test
  void a_full_quota_is_not_looked_at_again_at_once() {
    waiting("shop", LANE, REASON, Duration.ofMinutes(5));
    QuotaQueues quotas = quotas(later);
    assertThat(quotas.isFull(SHOPS)).isTrue();

    servers.sql().update("DELETE FROM later");

    assertThat(quotas.isFull(SHOPS)).isTrue();
    nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(quotas.isFull(SHOPS)).isFalse();
  }

  /// The rows of a step that was done just now are still being written.
  @Test
  void after_its_steps_a_quota_is_full_for_four_fifths_of_the_time_that_they_take() {
    QuotaQueues quotas = quotas(later);
    quotas.filled(SHOPS, 5_000);
    quotas.filled(SHOPS, 2_500);

    nanos.addAndGet(Duration.ofSeconds(6).toNanos() - 1);
    assertThat(quotas.isFull(SHOPS)).isTrue();
    nanos.incrementAndGet();
    assertThat(quotas.isFull(SHOPS)).isFalse();
  }

  @Test
  void a_step_grows_with_the_rate_that_the_project_has_after_a_pause() {
    QuotaQueues quotas = quotas(later);
    assertThat(quotas.most(SHOPS)).as("one chunk at least").isEqualTo(500);

    nanos.addAndGet(Duration.ofSeconds(45).toNanos());
    assertThat(quotas.most(SHOPS)).isEqualTo(775);
    nanos.addAndGet(Duration.ofSeconds(45).toNanos());
    assertThat(quotas.most(SHOPS)).isEqualTo(1_000);
    nanos.addAndGet(Duration.ofSeconds(61).toNanos());
    assertThat(quotas.most(SHOPS)).isEqualTo(500);
  }

  @Test
  void no_quota_is_full_while_mysql_is_away() {
    LaterStore away = new LaterStore(new DriverManagerDataSource("jdbc:mysql://127.0.0.1:1/away"));

    assertThat(quotas(away).isFull(SHOPS)).isFalse();
  }

  private boolean isFull(Passage.Quota quota) {
    return quotas(later).isFull(quota);
  }

  /// Of a thousand messages a second.
  private QuotaQueues quotas(LaterStore store) {
    return new QuotaQueues(store, new FcmQuota(60_000), clock, nanos::get);
  }

  private void waiting(String app, String lane, String reason, Duration wait) {
    later.keep(
        List.of(
            new Later(
                clock.instant().plus(wait),
                lane,
                reason,
                aPush(clock).from(app).toFcm("d1", "token").build())));
  }
}
