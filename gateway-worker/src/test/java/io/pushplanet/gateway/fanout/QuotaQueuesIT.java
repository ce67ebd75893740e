package io.pushplanet.gateway.fanout;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
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
    QuotaQueues quotas = new QuotaQueues(later, clock);
    assertThat(quotas.isFull(SHOPS)).isTrue();

    servers.sql().update("DELETE FROM later");

    assertThat(quotas.isFull(SHOPS)).isTrue();
  }

  @Test
  void no_quota_is_full_while_mysql_is_away() {
    LaterStore away = new LaterStore(new DriverManagerDataSource("jdbc:mysql://127.0.0.1:1/away"));

    assertThat(new QuotaQueues(away, clock).isFull(SHOPS)).isFalse();
  }

  private boolean isFull(Passage.Quota quota) {
    return new QuotaQueues(later, clock).isFull(quota);
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
