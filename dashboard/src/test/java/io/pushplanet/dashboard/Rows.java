package io.pushplanet.dashboard;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.springframework.jdbc.core.JdbcTemplate;

/// Fills the database like a running installation.
final class Rows {
  private final JdbcTemplate sql;
  private final Random random = new Random(7);
  private final MessageIds ids = new MessageIds(Clock.systemUTC(), random);

  Rows(JdbcTemplate sql) {
    this.sql = sql;
  }

  void app(String id, String name) {
    sql.update(
        "INSERT IGNORE INTO apps (id, name, created_at) VALUES (?, ?, ?)",
        id,
        name,
        Timestamp.from(Instant.now()));
  }

  void device(String app, String device, String platform, String user) {
    Timestamp now = Timestamp.from(Instant.now().minus(Duration.ofMinutes(random.nextInt(600))));
    sql.update(
        """
        INSERT IGNORE INTO devices (app_id, device_id, platform, mqtt, user_id, locale, timezone, app_version,
          created_at, updated_at, seen_at) VALUES (?, ?, ?, ?, ?, 'ko-KR', 'Asia/Seoul', '4.12.0', ?, ?, ?)
        """,
        app,
        device,
        platform,
        !platform.equals("ios"),
        user,
        now,
        now,
        now);
    sql.update(
        "INSERT IGNORE INTO device_topics (app_id, topic, device_id) VALUES (?, 'news', ?)",
        app,
        device);
    sql.update(
        "INSERT IGNORE INTO device_tags (app_id, tag, device_id) VALUES (?, 'early adopter', ?)",
        app,
        device);
  }

  void token(String app, String device, String channel, String token, boolean dead) {
    Timestamp now = Timestamp.from(Instant.now());
    sql.update(
        """
        INSERT IGNORE INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at,
          dead_at, dead_reason) VALUES (?, ?, ?, ?, 'token', 'production', ?, ?, ?)
        """,
        app,
        device,
        channel,
        token,
        now,
        dead ? now : null,
        dead ? "Unregistered" : null);
  }

  /// @return its id
  String message(String app, String title, String body, String audience, int recipients) {
    String id = ids.next().value();
    Timestamp now = Timestamp.from(Instant.now());
    int failed = recipients / 40;
    sql.update(
        """
        INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at, expanded_at,
          recipients, delivered, failed, opened)
        VALUES (?, ?, ?, ?, JSON_OBJECT('title', ?, 'body', ?, 'data', JSON_OBJECT('order', '77')),
          '{"route":"auto","ttl":"PT72H","priority":"high","collapse_key":"order-77"}', ?, ?, ?, ?, ?, ?, ?)
        """,
        today(),
        id,
        app,
        audience,
        title,
        body,
        now,
        Timestamp.from(Instant.now().plus(Duration.ofDays(3))),
        now,
        recipients,
        recipients - failed,
        failed,
        recipients / 7);
    return id;
  }

  /// An update of a Live Activity with an alert, over a broadcast channel. Its only recipient is
  /// the channel, it goes to APNs alone, and no device reports that it was displayed or opened.
  ///
  /// @return its id
  String messageOverChannel(String app, String channel, String title, String body) {
    String id =
        message(app, title, body, "{\"kind\":\"channel\",\"channel\":\"" + channel + "\"}", 1);
    sql.update(
        """
        UPDATE messages SET content = JSON_REMOVE(content, '$.data'),
          delivery = '{"route":"vendor","ttl":"PT72H","priority":"high"}' WHERE id = ?
        """,
        id);
    delivery(
        app,
        id,
        channel,
        "delivered",
        """
        [{"channel":"apns","at":"2026-11-21T10:00:00.098Z","result":"delivered","status":200,
          "provider_id":"5b1f0c52-8b1c-4c5e-9d53-0c1d6b1f2a77"}]
        """);
    return id;
  }

  /// With the channel and reason of the last attempt, as the statistics role writes them. Devices
  /// on MQTT report what they display.
  void delivery(String app, String message, String device, String state, String attempts) {
    Timestamp now = Timestamp.from(Instant.now());
    List<Attempt> all =
        WireForm.readBatch(attempts.getBytes(StandardCharsets.UTF_8), Attempt.class);
    Attempt last = all.getLast();
    boolean delivered = state.equals("delivered");
    boolean told = delivered && last.channel() == Channel.MQTT;
    sql.update(
        """
        INSERT INTO deliveries (day, message_id, device_id, app_id, state, channel, reason, attempts, queued_at,
          finished_at, displayed_at, opened_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        today(),
        message,
        device,
        app,
        state,
        last.channel() == null ? null : last.channel().word(),
        delivered ? null : last.reason(),
        attempts,
        now,
        now,
        told ? now : null,
        told ? now : null);
  }

  void lastDay(String app) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MINUTES);
    List<Object[]> rows = new ArrayList<>();
    for (int i = 0; i < 24 * 60; i++) {
      Instant minute = now.minus(Duration.ofMinutes(i));
      int base =
          (int) (900 + 500 * Math.sin(i / 9.0) + 300 * Math.cos(i / 90.0)) + random.nextInt(120);
      rows.add(row(minute, app, "", "accepted", "", base));
      rows.add(row(minute, app, "mqtt", "delivered", "", base * 6 / 10));
      rows.add(row(minute, app, "apns", "delivered", "", base * 3 / 10));
      rows.add(row(minute, app, "fcm", "delivered", "", base / 20));
      rows.add(row(minute, app, "apns", "failed", "Unregistered", random.nextInt(12)));
      rows.add(row(minute, app, "fcm", "failed", "UNREGISTERED", random.nextInt(9)));
      if (i % 7 == 0) {
        rows.add(row(minute, app, "apns", "failed", "DeviceTokenNotForTopic", random.nextInt(20)));
        rows.add(row(minute, app, "mqtt", "expired", "", random.nextInt(20)));
      }
      rows.add(row(minute, app, "mqtt", "opened", "", base / 9));
    }
    sql.batchUpdate(
        """
        INSERT IGNORE INTO statistics_minutes (day, minute, app_id, channel, outcome, reason, count)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """,
        rows);
  }

  private static Object[] row(
      Instant minute, String app, String channel, String outcome, String reason, int count) {
    return new Object[] {
      minute.atOffset(ZoneOffset.UTC).toLocalDate(),
      Timestamp.from(minute),
      app,
      channel,
      outcome,
      reason,
      count
    };
  }

  private static java.time.LocalDate today() {
    return Instant.now().atOffset(ZoneOffset.UTC).toLocalDate();
  }
}
