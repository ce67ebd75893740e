package io.pushplanet.gateway.alert;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.alert.Alerts.Kind;
import java.io.IOException;
import java.net.URI;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AlertPostIT {
  private static final AppId APP = new AppId("alerted");

  private final RealServers servers = RealServers.start();
  private final MutableClock clock = new MutableClock(Instant.parse("2026-11-21T10:00:00Z"));
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Alerts alerts =
      new Alerts(servers.database(), EnumSet.allOf(AlertChannel.Name.class), clock, meters);
  private final Channel webhook = new Channel(AlertChannel.Name.WEBHOOK);
  private final Channel mail = new Channel(AlertChannel.Name.MAIL);

  /// Accepts alerts, or refuses them.
  private static final class Channel implements AlertChannel {
    private final Name name;
    final List<Alert> taken = new ArrayList<>();
    int tries;
    boolean refuses;

    Channel(Name name) {
      this.name = name;
    }

    @Override
    public Name name() {
      return name;
    }

    @Override
    public void send(Alert alert) throws IOException {
      tries++;
      if (refuses) {
        throw new IOException("greylisted,\ncome back later");
      }
      taken.add(alert);
    }
  }

  @BeforeEach
  void empty() {
    servers.sql().update("DELETE FROM alerts");
    servers.sql().update("DELETE FROM credentials WHERE app_id = ?", APP.value());
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void a_refusing_mail_server_is_tried_later_and_delays_no_webhook() {
    mail.refuses = true;
    alerts.tell(Kind.CREDENTIAL_PAUSED, APP, "1", "apns/production", "refused");

    post(webhook).round();
    post(mail).round();
    post(mail).round();

    assertThat(webhook.taken).singleElement().extracting(Alert::text).isEqualTo("refused");
    assertThat(mail.tries).isOne();
    assertThat(problem()).isEqualTo("java.io.IOException: greylisted,\ncome back later");
    clock.advance(Duration.ofSeconds(7));
    post(mail).round();
    assertThat(mail.tries).isEqualTo(2);
    clock.advance(Duration.ofSeconds(9));
    post(mail).round();
    assertThat(mail.tries).isEqualTo(2);

    mail.refuses = false;
    clock.advance(Duration.ofSeconds(4));
    post(mail).round();
    clock.advance(Duration.ofHours(1));
    post(mail).round();
    post(webhook).round();
    assertThat(mail.taken).isEqualTo(webhook.taken);
    assertThat(webhook.tries).isOne();
    assertThat(problem()).isNull();
  }

  @Test
  void refused_alerts_do_not_come_back_together() {
    mail.refuses = true;
    for (int i = 0; i < 10; i++) {
      alerts.tell(Kind.CREDENTIAL_PAUSED, APP, "" + i, "apns/production", "refused");
    }

    post(mail).round();

    assertThat(servers.sql().queryForList("SELECT DISTINCT mail_at FROM alerts", Timestamp.class))
        .hasSizeGreaterThan(1)
        .allSatisfy(next ->
            assertThat(next.toInstant())
                .isBetween(
                    clock.instant().plusSeconds(5),
                    clock.instant().plus(Duration.ofMillis(6_250))));
  }

  @Test
  void an_alert_that_is_not_accepted_within_a_day_is_given_up() {
    mail.refuses = true;
    alerts.tell(Kind.CREDENTIAL_PAUSED, APP, "1", "apns/production", "refused");

    for (int round = 0; round < 200; round++) {
      post(mail).round();
      clock.advance(Duration.ofMinutes(10));
    }

    assertThat(mail.tries).isBetween(35, 80);
    assertThat(
            meters
                .get("pushplanet.alerts.posted")
                .tag("way", "mail")
                .tag("result", "given_up")
                .counter()
                .count())
        .isOne();
  }

  @Test
  void old_alerts_go_but_for_those_that_would_be_told_anew_and_those_under_way() {
    servers
        .sql()
        .update(
            """
            INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by)
            VALUES (?, 'apns', 'production', 'p12', 'active', '{}', '', NOW(), 'test')
            """,
            APP.value());
    long inUse =
        servers
            .sql()
            .queryForObject(
                "SELECT MAX(id) FROM credentials WHERE app_id = ?", Long.class, APP.value());
    alerts.tell(Kind.CREDENTIAL_EXPIRES, APP, inUse + "/7", "apns/production", "of one in use");
    alerts.tell(Kind.CREDENTIAL_EXPIRES, APP, inUse + 1 + "/7", "apns/production", "of no other");
    alerts.tell(Kind.TOKENS_KEPT, APP, "then", "fcm", "long ago");
    post(webhook).round();
    post(mail).round();
    alerts.tell(Kind.TOKENS_KEPT, APP, "waits", "fcm", "long ago and under way");
    servers.sql().update("UPDATE alerts SET at = ?", Timestamp.from(clock.instant()));
    clock.advance(Duration.ofDays(90).plusSeconds(1));
    alerts.tell(Kind.TOKENS_KEPT, APP, "now", "fcm", "now");

    assertThat(alerts.trim(Duration.ofDays(90))).isFalse();

    assertThat(servers.sql().queryForList("SELECT text FROM alerts ORDER BY id", String.class))
        .containsExactly("of one in use", "long ago and under way", "now");
    assertThat(alerts.tell(Kind.CREDENTIAL_EXPIRES, APP, inUse + "/7", "apns/production", "again"))
        .isFalse();
  }

  private AlertPost post(Channel channel) {
    return new AlertPost(
        servers.database(),
        channel,
        new AlertSettings(
            URI.create("https://example.com"),
            new Secret("secret"),
            new MailSettings(
                "", 587, MailSettings.Security.STARTTLS, "", new Secret(""), "", List.of(), null),
            Duration.ofSeconds(10),
            Duration.ofDays(1),
            Duration.ofSeconds(1),
            Duration.ofDays(90)),
        clock,
        new Random(1),
        meters);
  }

  private String problem() {
    return servers.sql().queryForObject("SELECT mail_problem FROM alerts", String.class);
  }
}
