package io.pushplanet.gateway.alert;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.gateway.connection.LiveRequest;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import tools.jackson.databind.json.JsonMapper;

/// Posts alerts, signed as Standard Webhooks has it
/// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md), until an answer of 200 to 299
/// comes. One worker has each alert at a time; one that dies over it leaves it to the others. Thread-safe.
final class AlertWebhook {
  private static final Logger LOG = LoggerFactory.getLogger(AlertWebhook.class);
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final int MOST_AT_ONCE = 20;
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(30);

  private final JdbcTemplate database;
  private final URI url;
  private final byte[] secret;
  private final AlertSettings settings;
  private final LiveRequest requests;
  private final Clock clock;
  private final MeterRegistry meters;

  private record Due(
      long id,
      String kind,
      String app,
      String subject,
      String text,
      Instant at,
      Timestamp sendAt,
      int tries) {}

  AlertWebhook(
      DataSource database,
      URI url,
      AlertSettings settings,
      LiveRequest requests,
      Clock clock,
      MeterRegistry meters) {
    this.database = new JdbcTemplate(database);
    this.url = url;
    this.settings = settings;
    this.requests = requests;
    this.clock = clock;
    this.meters = meters;
    String text = settings.webhookSecret().reveal().strip();
    this.secret = Base64.getDecoder().decode(text.startsWith("whsec_") ? text.substring(6) : text);
  }

  /// @return whether there may be more to post at once
  boolean post() {
    Instant now = clock.instant();
    List<Due> due =
        database.query(
            """
            SELECT id, kind, app_id, subject, text, at, send_at, tries FROM alerts
            WHERE send_at <= ? ORDER BY send_at LIMIT ?
            """,
            (row, _) ->
                new Due(
                    row.getLong("id"),
                    row.getString("kind"),
                    row.getString("app_id"),
                    row.getString("subject"),
                    row.getString("text"),
                    row.getTimestamp("at").toInstant(),
                    row.getTimestamp("send_at"),
                    row.getInt("tries")),
            Timestamp.from(now),
            MOST_AT_ONCE);
    for (Due alert : due) {
      if (isMine(alert, now)) {
        post(alert);
      }
    }
    return due.size() == MOST_AT_ONCE;
  }

  /// Whoever moves the time first has it, for as long as a request may take.
  private boolean isMine(Due alert, Instant now) {
    return database.update(
            "UPDATE alerts SET send_at = ?, tries = tries + 1 WHERE id = ? AND send_at = ?",
            Timestamp.from(now.plus(settings.requestTimeout().multipliedBy(2))),
            alert.id(),
            alert.sendAt())
        > 0;
  }

  private void post(Due alert) {
    String problem;
    try {
      int status =
          requests.post(url, headers(alert), body(alert), settings.requestTimeout()).status();
      if (status >= 200 && status < 300) {
        database.update(
            "UPDATE alerts SET send_at = NULL, sent_at = ?, problem = NULL WHERE id = ?",
            Timestamp.from(clock.instant()),
            alert.id());
        count("sent");
        return;
      }
      problem = "HTTP " + status;
    } catch (IOException e) {
      problem = e.toString();
    }
    Instant next = clock.instant().plus(pause(alert.tries()));
    boolean givenUp = next.isAfter(alert.at().plus(settings.giveUpAfter()));
    LOG.warn(
        "event=alert_not_posted alertId={} tries={} givenUp={} reason=\"{}\"",
        alert.id(),
        alert.tries() + 1,
        givenUp,
        problem);
    database.update(
        "UPDATE alerts SET send_at = ?, problem = ? WHERE id = ?",
        givenUp ? null : Timestamp.from(next),
        problem.length() > 190 ? problem.substring(0, 190) : problem,
        alert.id());
    count(givenUp ? "given_up" : "failed");
  }

  private static Duration pause(int tries) {
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(tries, 20));
    return pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
  }

  private void count(String result) {
    meters.counter("pushplanet.alerts.posted", "result", result).increment();
  }

  private static byte[] body(Due alert) {
    return JSON.writeValueAsBytes(
        JSON.createObjectNode()
            .put("type", alert.kind())
            .put("timestamp", alert.at().toString())
            .set(
                "data",
                JSON.createObjectNode()
                    .put("app", alert.app())
                    .put("subject", alert.subject())
                    .put("text", alert.text())));
  }

  private Map<String, String> headers(Due alert) {
    String id = "alert_" + alert.id();
    long timestamp = clock.instant().getEpochSecond();
    String signed = id + "." + timestamp + "." + new String(body(alert), StandardCharsets.UTF_8);
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      String signature =
          Base64.getEncoder().encodeToString(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
      return Map.of(
          "content-type",
          "application/json",
          "webhook-id",
          id,
          "webhook-timestamp",
          Long.toString(timestamp),
          "webhook-signature",
          "v1," + signature);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK lacks HmacSHA256", e);
    }
  }
}
