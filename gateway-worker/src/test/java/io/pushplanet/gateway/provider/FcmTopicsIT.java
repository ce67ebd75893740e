package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.statistics.StatisticsWriter;
import io.pushplanet.simulators.fcm.FcmAccount;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.ScriptLine;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Messages to Firebase's topics and conditions, at a strict simulator of FCM: each is one
/// recipient and no device.
class FcmTopicsIT {
  private static final Clock CLOCK = Clock.systemUTC();
  private static final Simulated FCM = Simulated.FCM;
  private static final String NEWS = "fcm-topic:news";

  @TempDir static Path state;
  private static ProviderPlatform platform;
  private static ProviderWorker worker;
  private static RealServers servers;

  @BeforeAll
  static void start() throws Exception {
    platform = ProviderPlatform.start(state);
    worker = new ProviderWorker(platform, CLOCK, Channel.FCM);
    servers = worker.servers;
  }

  @AfterAll
  static void stop() {
    worker.close();
  }

  @AfterEach
  void forget() {
    platform.simulators.script().clear();
    platform.simulators.fcm().quotas().setTopic(Integer.MAX_VALUE);
    servers.sql().update("DELETE FROM later");
  }

  private static PushBuilder from(String app) {
    platform.uploadAccount(app, FcmAccount.issue(app, platform.simulators.fcm().tokenUri()));
    return aPush(CLOCK).from(app);
  }

  private static PushBuilder toTopic(PushBuilder push, String topic) {
    return push.toFollowers("fcm-topic:" + topic, "topic", topic);
  }

  private static Push toTopic(String app, String topic) {
    return toTopic(aPush(CLOCK).from(app), topic).build();
  }

  private static void deliver(Push push) throws Exception {
    worker.deliver(Channel.FCM, push);
    new StatisticsWriter(servers.database())
        .write(servers.drain(Topology.EVENTS, DeliveryEvent.class));
  }

  /// Brings waiting messages back, as `DueRows` does.
  private static void deliverWhatWaits() throws Exception {
    String waiting = servers.sql().queryForObject("SELECT pushes FROM later", String.class);
    servers.sql().update("DELETE FROM later");
    byte[] batch = String.valueOf(waiting).getBytes(StandardCharsets.UTF_8);
    for (Push push : WireForm.readBatch(batch, Push.class, _ -> {})) {
      deliver(push);
    }
  }

  private static List<LedgerEntry> ledger(String app, String target) {
    return platform.simulators.ledger().entries(target).stream()
        .filter(entry -> entry.id().isEmpty() || entry.id().startsWith("projects/" + app + "/"))
        .toList();
  }

  private static Map<String, Object> row(Push push) {
    return servers
        .sql()
        .queryForMap(
            "SELECT device_id, state, reason, channel, attempts FROM deliveries WHERE message_id = ?",
            push.id().value());
  }

  private static JsonNode lastAttempt(Push push) {
    JsonNode attempts = JsonMapper.shared().readTree(row(push).get("attempts").toString());
    return attempts.get(attempts.size() - 1);
  }

  /// firebase/firebase-admin-java#594: no sender can list a topic's followers. So it is one
  /// recipient, and Google's answer is the end.
  @Test
  void firebase_admin_java_594_a_topic_is_one_request_and_one_delivery() throws Exception {
    Push push = toTopic(from("topic-one"), "news").build();

    deliver(push);

    assertThat(ledger("topic-one", "/topics/news"))
        .singleElement()
        .satisfies(entry -> {
          assertThat(entry.delivered()).isTrue();
          assertThat(entry.payload().path("topic").asString()).isEqualTo("news");
          assertThat(entry.payload().has("token")).isFalse();
          assertThat(lastAttempt(push).path("provider_id").asString()).isEqualTo(entry.id());
        });
    assertThat(row(push)).containsEntry("device_id", NEWS).containsEntry("state", "delivered");
  }

  @Test
  void a_condition_goes_out_as_it_was_written() throws Exception {
    String condition = "'news' in topics && !('muted' in topics || 'old' in topics)";
    Push push =
        from("topic-condition").toFollowers("fcm-condition:x", "condition", condition).build();

    deliver(push);

    assertThat(ledger("topic-condition", condition))
        .singleElement()
        .satisfies(entry -> assertThat(entry.delivered()).isTrue());
    assertThat(row(push)).containsEntry("state", "delivered");
  }

  /// firebase/firebase-admin-node#1900: followers get a topic's message twice.
  @Test
  void firebase_admin_node_1900_a_repeat_to_a_topic_replaces_the_first() throws Exception {
    Push push = toTopic(from("topic-twice"), "twice").build();
    platform
        .simulators
        .script()
        .add(ScriptLine.next(FCM, 1, Fate.answer(503, "UNAVAILABLE").butDelivered()));

    deliver(push);
    assertThat(row(push)).containsEntry("state", "queued");
    deliverWhatWaits();

    assertThat(row(push)).containsEntry("state", "delivered");
    assertThat(platform.simulators.ledger().entries("/topics/twice"))
        .hasSize(2)
        .allSatisfy(entry -> {
          JsonNode sent = entry.payload();
          String id = push.id().value();
          assertThat(sent.at("/data/id").asString()).isEqualTo(id);
          assertThat(sent.at("/android/notification/tag").asString()).isEqualTo(id);
          assertThat(sent.at("/apns/headers/apns-collapse-id").asString()).isEqualTo(id);
          assertThat(sent.at("/webpush/notification/tag").asString()).isEqualTo(id);
        });
  }

  @ParameterizedTest
  @CsvSource({
    "400, INVALID_ARGUMENT",
    "403, SENDER_ID_MISMATCH",
    "404, UNREGISTERED",
  })
  void an_answer_about_a_topic_costs_no_token(int status, String reason) throws Exception {
    String app = "topic-" + status;
    Push push = toTopic(from(app), "news").build();
    // The worst case: a device whose token is the name of the topic.
    servers
        .sql()
        .update(
            "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment,"
                + " registered_at) VALUES (?, ?, 'fcm', 'news', 'token', '', ?)",
            app,
            NEWS,
            Timestamp.from(CLOCK.instant().minus(Duration.ofDays(1))));
    worker.deliver(Channel.FCM, aPush(CLOCK).from(app).toFcm("d1", "t1").toFcm("d2", "t2").build());
    platform.simulators.script().add(ScriptLine.next(FCM, 1, Fate.answer(status, reason)));

    deliver(push);

    assertThat(row(push)).containsEntry("state", "failed").containsEntry("reason", reason);
    assertThat(lastAttempt(push).path("action").asString()).isEqualTo("not repeated");
    assertThat(
            servers
                .sql()
                .queryForObject(
                    "SELECT COUNT(*) FROM channel_tokens WHERE app_id = ? AND dead_at IS NULL",
                    Integer.class,
                    app))
        .isOne();
  }

  /// Every project may send to every topic, so that proves nothing about the tokens' project.
  @Test
  void an_accepted_topic_does_not_prove_the_credential() throws Exception {
    Push toTopic = toTopic(from("topic-proof"), "news").build();
    deliver(toTopic);
    deliver(toTopic("topic-proof", "sports"));
    servers
        .sql()
        .update(
            "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment,"
                + " registered_at) VALUES ('topic-proof', 'd1', 'fcm', 'of-another', 'token', '', ?)",
            Timestamp.from(CLOCK.instant().minus(Duration.ofDays(1))));
    platform
        .simulators
        .script()
        .add(ScriptLine.token(FCM, "of-another", Fate.answer(403, "SENDER_ID_MISMATCH")));
    Push toDevice = aPush(CLOCK).from("topic-proof").toFcm("d1", "of-another").build();

    deliver(toDevice);

    assertThat(lastAttempt(toDevice).path("action").asString()).startsWith("token kept");
  }

  @Test
  void an_accepted_topic_does_not_prove_an_account_of_another_project() {
    from("topic-swapped").build();
    platform
        .simulators
        .script()
        .add(ScriptLine.token(FCM, "of-another", Fate.answer(403, "SENDER_ID_MISMATCH")));

    for (int i = 0; i < 100 && !isPaused("topic-swapped"); i++) {
      worker.deliver(
          Channel.FCM, aPush(CLOCK).from("topic-swapped").toFcm("d" + i, "of-another").build());
      if (i % 5 == 0) {
        worker.deliver(Channel.FCM, toTopic("topic-swapped", "news" + i));
      }
    }

    assertThat(isPaused("topic-swapped")).isTrue();
  }

  private static boolean isPaused(String app) {
    return !servers
        .sql()
        .queryForList("SELECT id FROM credentials WHERE app_id = ? AND paused_at IS NOT NULL", app)
        .isEmpty();
  }

  @Test
  void a_quota_of_a_topic_slows_only_that_topic_of_that_project() throws Exception {
    from("topic-busy").build();
    from("topic-quota-other").build();
    platform.simulators.fcm().quotas().setTopic(1);
    deliver(toTopic("topic-busy", "busy"));

    Push over = toTopic("topic-busy", "busy");
    Push meanwhile = toTopic("topic-busy", "busy");
    Push another = toTopic("topic-busy", "quiet");
    Push anothers = toTopic("topic-quota-other", "busy");
    Push device = aPush(CLOCK).from("topic-busy").toFcm("d1", "busy").build();
    for (Push push : List.of(over, meanwhile, another, anothers, device)) {
      deliver(push);
    }

    assertThat(lastAttempt(over).path("reason").asString()).isEqualTo("QUOTA_EXCEEDED");
    assertThat(lastAttempt(over).path("action").asString()).startsWith("topic rests; retry at ");
    assertThat(lastAttempt(meanwhile).path("reason").asString()).isEqualTo("topic_quota_rest");
    assertThat(platform.simulators.ledger().entries("/topics/busy")).hasSize(3);
    assertThat(row(another)).containsEntry("state", "delivered");
    assertThat(row(anothers)).containsEntry("state", "delivered");
    assertThat(row(device)).containsEntry("state", "delivered");
  }

  /// Google may mean how many topics' messages it spreads at a time.
  @Test
  void a_quota_of_which_google_does_not_say_whose_it_is_slows_no_device() throws Exception {
    from("topic-unsaid").build();
    platform.simulators.script().add(ScriptLine.next(FCM, 1, Fate.answer(429, "QUOTA_EXCEEDED")));

    Push over = toTopic("topic-unsaid", "unsaid");
    Push device = aPush(CLOCK).from("topic-unsaid").toFcm("d1", "t1").build();
    deliver(over);
    deliver(device);

    assertThat(lastAttempt(over).path("action").asString()).startsWith("topic rests; retry at ");
    assertThat(row(device)).containsEntry("state", "delivered");
  }

  @Test
  void a_topic_of_an_app_without_a_credential_fails_as_a_device_does() throws Exception {
    Push push = toTopic("topic-nobody", "news");

    deliver(push);

    assertThat(row(push)).containsEntry("state", "failed").containsEntry("reason", "no_credential");
  }

  @Test
  void a_waiting_message_to_a_topic_is_not_sent_once_cancelled_or_expired() throws Exception {
    Push cancelled = toTopic(from("topic-late"), "late").build();
    servers
        .sql()
        .update(
            "INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at,"
                + " cancelled_at) VALUES (?, ?, 'topic-late', '{}', '', '', NOW(), NOW(), NOW())",
            cancelled.id().day(),
            cancelled.id().value());
    DeliveryOptions brief =
        new DeliveryOptions(
            Route.VENDOR, Duration.ofNanos(1), Urgency.HIGH, null, Duration.ofSeconds(5));
    Push old = toTopic(aPush(CLOCK).from("topic-late").delivered(brief), "late").build();

    deliver(cancelled.retried());
    deliver(old.retried());

    assertThat(row(cancelled)).containsEntry("state", "cancelled");
    assertThat(row(old)).containsEntry("state", "expired");
    assertThat(platform.simulators.ledger().entries("/topics/late")).isEmpty();
  }
}
