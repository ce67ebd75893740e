package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.dashboard.browser.Chromium;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Every name has its greatest length, of wide letters, and no place for a line break.
class LongestNamesIT {
  private static final String APP = "m".repeat(64);
  private static final String ID = "W".repeat(64);
  private static final String NAME = "W".repeat(100);
  private static final String KEY = "W".repeat(128);
  private static final String TITLE = "W".repeat(200);
  private static final String TEXT = "W".repeat(255);
  private static final List<String> OF_AN_APP =
      List.of(
          "api_keys",
          "credentials",
          "alerts",
          "devices",
          "device_topics",
          "device_tags",
          "channel_tokens",
          "messages",
          "deliveries",
          "statistics_minutes");

  private final RunningDashboard dashboard = RunningDashboard.shared();
  private final Rows rows = new Rows(dashboard.sql());
  private final Timestamp now = Timestamp.from(Instant.now());
  private String toTag = "";
  private String toDevice = "";

  @BeforeEach
  void everything() {
    dashboard.operator(NAME, "admin");
    sql(
        "INSERT INTO audit (at, operator, action, subject, detail) VALUES (?, ?, 'credential_activated_anyway', ?, ?)",
        now,
        NAME,
        TEXT,
        TEXT);
    rows.app(APP, TITLE);
    sql(
        "INSERT INTO api_keys (id, app_id, name, hash, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        "W".repeat(32),
        APP,
        TITLE,
        new byte[32],
        "send,read,devices,events",
        now);
    credential("active", null);
    credential("candidate", TEXT);
    sql(
        "INSERT INTO alerts (alert_key, kind, app_id, subject, text, at) VALUES (?, 'credential_paused', ?, ?, ?, ?)",
        "longest-names",
        APP,
        "W".repeat(190),
        "W".repeat(1_000),
        now);
    device();
    toDevice = message("{\"kind\":\"devices\",\"devices\":[\"" + ID + "\"]}");
    toTag =
        message(
            "{\"kind\":\"and\",\"parts\":[{\"kind\":\"tag\",\"tag\":\"%1$s\"},{\"kind\":\"topic\",\"topic\":\"%1$s\"}]}"
                .formatted(KEY));
    sql(
        "INSERT INTO statistics_minutes (day, minute, app_id, channel, outcome, reason, count) VALUES (CURDATE(), ?, ?, 'apns', 'failed', ?, 7)",
        now,
        APP,
        KEY);
  }

  @AfterEach
  void nothingStays() {
    sql("DELETE FROM operators WHERE name = ?", NAME);
    sql("DELETE FROM apps WHERE id = ?", APP);
    OF_AN_APP.forEach(table -> sql("DELETE FROM " + table + " WHERE app_id = ?", APP));
  }

  @Test
  void no_page_scrolls_sideways_or_cuts_anything_off() throws Exception {
    String[] pages = {
      "/",
      "/messages?app=" + APP,
      "/messages/" + toDevice,
      "/messages/" + toTag,
      "/devices?app=" + APP,
      "/devices?app=" + APP + "&find=" + KEY,
      "/devices/" + APP + "/" + ID,
      "/apps",
      "/apps/" + APP + "/keys",
      "/apps/" + APP + "/credentials",
      "/nodes",
      "/nodes/" + ID + "/drain",
      "/dead-letters",
      "/test-push?app=" + APP + "&device=" + ID,
      "/encryption",
      "/audit",
      "/operators",
      "/account",
    };
    var softly = new SoftAssertions();
    try (FakeNode node = new FakeNode(dashboard, ID);
        Connection broker = dashboard.bean(ConnectionFactory.class).newConnection();
        Channel channel = broker.createChannel();
        Chromium chromium = Chromium.open(dashboard.address())) {
      bury(channel);
      try {
        chromium.login(NAME, RunningDashboard.PASSWORD);
        for (String page : pages) {
          chromium.go(page);
          chromium.script(
              "document.querySelectorAll('main details').forEach(one => one.open = true)");
          for (int width : new int[] {1_280, 1_024, 768, 400}) {
            chromium.size(width, 900);
            softly.check(() -> PageWidth.holds(chromium, width + " px of " + page));
          }
        }
        assertThat(node.orders).isEmpty();
      } finally {
        channel.queuePurge(Topology.DEAD);
      }
    }
    softly.assertAll();
  }

  private static void bury(Channel channel) throws Exception {
    Topology.declare(channel.getConnection());
    channel.confirmSelect();
    channel.basicPublish(
        "",
        Topology.DEAD,
        MessageProperties.MINIMAL_PERSISTENT_BASIC
            .builder()
            .headers(
                Map.of(
                    Topology.DEAD_QUEUE_HEADER,
                    "push.webpush.normal",
                    Topology.DEAD_REASON_HEADER,
                    TEXT))
            .build(),
        "{\"id\":\"01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf\"}".getBytes(StandardCharsets.UTF_8));
    assertThat(channel.waitForConfirms(60_000)).isTrue();
  }

  private void credential(String state, @Nullable String probeReason) {
    sql(
        """
        INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by,
          paused_at, pause_reason, probed_at, probe_verdict, probe_reason)
        VALUES (?, 'apns', 'production', 'p8', ?, ?, '', ?, ?, ?, ?, ?, ?, ?)
        """,
        APP,
        state,
        "{\"team_id\":\"ABCDE12345\",\"bundle_id\":\"%s\"}".formatted("W".repeat(155)),
        now,
        NAME,
        probeReason == null ? now : null,
        probeReason == null ? KEY : null,
        now,
        probeReason == null ? "accepted" : "refused",
        probeReason);
  }

  private void device() {
    rows.device(APP, ID, "android", KEY);
    sql(
        "UPDATE devices SET locale = ?, timezone = ?, app_version = ? WHERE app_id = ?",
        "W".repeat(35),
        ID,
        ID,
        APP);
    sql("INSERT INTO device_topics (app_id, topic, device_id) VALUES (?, ?, ?)", APP, KEY, ID);
    sql("INSERT INTO device_tags (app_id, tag, device_id) VALUES (?, ?, ?)", APP, KEY, ID);
    rows.token(APP, ID, "apns", "0f".repeat(100), true);
    rows.token(APP, ID, "fcm", "W".repeat(4_096), false);
    sql("UPDATE channel_tokens SET dead_reason = ? WHERE app_id = ? AND channel = 'apns'", ID, APP);
  }

  private String message(String audience) {
    String id = rows.message(APP, TITLE, TEXT, audience, 200_000);
    sql(
        "UPDATE messages SET content = ?, delivery = ?, duplicates = 7 WHERE id = ?",
        "{\"title\":\"%s\",\"body\":\"%s\",\"data\":{\"%s\":\"%s\"}}"
            .formatted(TITLE, TEXT, KEY, TEXT),
        "{\"route\":\"vendor\",\"ttl\":\"PT72H\",\"priority\":\"high\",\"collapse_key\":\"%s\"}"
            .formatted(ID),
        id);
    rows.delivery(
        APP,
        id,
        ID,
        "failed",
        """
        [{"channel":"mqtt","at":"2026-11-21T10:00:00.120Z","result":"not_here","action":"%1$s"},
         {"channel":"apns","at":"2026-11-21T10:00:00.350Z","result":"rejected","status":410,"reason":"%1$s",
          "provider_id":"%1$s","action":"token forgotten"}]
        """
            .formatted(KEY));
    return id;
  }

  private void sql(String statement, @Nullable Object... values) {
    dashboard.sql().update(statement, values);
  }
}
