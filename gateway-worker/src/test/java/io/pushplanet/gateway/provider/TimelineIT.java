package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.statistics.StatisticsWriter;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.fcm.FcmAccount;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Fate.Action;
import io.pushplanet.simulators.script.ScriptLine;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// "Why did I not get it?": for each answer that Apple, Google and Huawei document, a timeline with
/// its status and reason, the worker's reaction, and the fate of the token. Each answer has an app
/// of its own, because some pause their credential.
class TimelineIT {
  private static final Clock CLOCK = Clock.systemUTC();
  private static final AtomicInteger NUMBER = new AtomicInteger();

  @TempDir static Path state;
  private static ProviderPlatform platform;
  private static ProviderWorker delivery;
  private static RealServers servers;

  /// The consequences of an answer.
  private enum Sequel {
    NOT_REPEATED("rejected", "failed", "not repeated", false),
    RETRIED("deferred", "queued", "retry at …", false),
    CLOSED("deferred", "queued", "connection closed; retry at …", false),
    PAUSED("deferred", "queued", "credential paused; retry at …", false),
    /// The project or the token does not exist: one answer does not say which.
    IN_DOUBT("deferred", "queued", "credential in doubt; retry at …", false),
    TOKEN_RESTS("deferred", "queued", "provider token rests; retry at …", false),
    SLOWED("deferred", "queued", "project slowed; retry at …", false),
    DEVICE_RESTS("deferred", "queued", "device rests; retry at …", false),
    APP_RESTS("deferred", "queued", "app rests; retry at …", false),
    FORGOTTEN("rejected", "failed", "token forgotten", true),
    KEPT("rejected", "failed", "token kept: registered again since", false);

    final String result;
    final String state;
    final String action;
    final boolean forgets;

    Sequel(String result, String state, String action, boolean forgets) {
      this.result = result;
      this.state = state;
      this.action = action;
      this.forgets = forgets;
    }
  }

  private record Answer(
      Channel channel,
      String token,
      Fate fate,
      int status,
      String reason,
      String remedy,
      Sequel sequel) {
    /// The same answer came once before, and its remedy did not help.
    Answer after(String remedy) {
      return new Answer(channel, token, fate, status, reason, remedy, sequel);
    }

    @Override
    public String toString() {
      return channel.word() + " " + status + " " + reason + " " + sequel;
    }
  }

  @BeforeAll
  static void start() throws Exception {
    platform = ProviderPlatform.start(state);
    // So that a token that was renewed after `ExpiredProviderToken` gets the scripted answer, too.
    platform.tokensMayChangeAtOnce(true);
    delivery = new ProviderWorker(platform, CLOCK, Channel.APNS, Channel.FCM, Channel.HMS);
    servers = delivery.servers;
  }

  @AfterAll
  static void stop() {
    delivery.close();
  }

  /// Every reason that Apple documents, one that it does not, and answers of proxies
  /// (https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns);
  /// every code of FCM's (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode), those
  /// of Google's front door, and answers that are not in Google's form; every code of Push Kit's
  /// (https://developer.huawei.com/consumer/en/doc/HMSCore-References/https-send-api-0000001050986197).
  private static Stream<Answer> answers() {
    return Stream.of(
        apns(400, "BadCollapseId", Sequel.NOT_REPEATED),
        apns(400, "BadDeviceToken", Sequel.FORGOTTEN),
        apns(400, "BadExpirationDate", Sequel.NOT_REPEATED),
        apns(400, "BadMessageId", Sequel.NOT_REPEATED),
        apns(400, "BadPriority", Sequel.NOT_REPEATED),
        apns(400, "BadTopic", Sequel.NOT_REPEATED),
        apns(400, "DeviceTokenNotForTopic", Sequel.FORGOTTEN),
        apns(400, "DuplicateHeaders", Sequel.NOT_REPEATED),
        apns(400, "IdleTimeout", Sequel.CLOSED).after("connection closed; sent again"),
        apns(400, "InvalidPushType", Sequel.NOT_REPEATED),
        apns(400, "MissingDeviceToken", Sequel.NOT_REPEATED),
        apns(400, "MissingTopic", Sequel.NOT_REPEATED),
        apns(400, "PayloadEmpty", Sequel.NOT_REPEATED),
        apns(400, "TopicDisallowed", Sequel.NOT_REPEATED),
        apns(403, "BadCertificate", Sequel.PAUSED),
        apns(403, "BadCertificateEnvironment", Sequel.PAUSED),
        apns(403, "BadEnvironmentKeyIdInToken", Sequel.PAUSED),
        apns(403, "ExpiredProviderToken", Sequel.PAUSED)
            .after("provider token renewed; sent again"),
        apns(403, "Forbidden", Sequel.PAUSED),
        apns(403, "InvalidProviderToken", Sequel.PAUSED),
        apns(403, "MissingProviderToken", Sequel.PAUSED),
        apns(403, "UnrelatedKeyIdInToken", Sequel.PAUSED).after("connection closed; sent again"),
        apns(404, "BadPath", Sequel.NOT_REPEATED),
        apns(405, "MethodNotAllowed", Sequel.NOT_REPEATED),
        apns(410, "ExpiredToken", Sequel.FORGOTTEN),
        apns(410, "Unregistered", Sequel.FORGOTTEN),
        apns(
            410,
            "Unregistered",
            Fate.answer(410, "Unregistered").since(1_700_000_000_000L),
            Sequel.KEPT),
        apns(413, "PayloadTooLarge", Sequel.NOT_REPEATED),
        apns(429, "TooManyProviderTokenUpdates", Sequel.TOKEN_RESTS),
        apns(429, "TooManyRequests", Sequel.DEVICE_RESTS),
        apns(500, "InternalServerError", Sequel.CLOSED),
        apns(503, "ServiceUnavailable", Sequel.CLOSED),
        apns(503, "Shutdown", Sequel.CLOSED),
        apns(400, "ReasonOfTomorrow", Sequel.NOT_REPEATED),
        apns(400, "BadChannelId", Sequel.NOT_REPEATED),
        apns(400, "CannotCreateChannelConfig", Sequel.NOT_REPEATED),
        apns(400, "ChannelNotRegistered", Sequel.NOT_REPEATED),
        apns(400, "FeatureNotEnabled", Sequel.NOT_REPEATED),
        apns(400, "MissingChannelId", Sequel.NOT_REPEATED),
        apns(400, "MissingPushType", Sequel.NOT_REPEATED),
        apns(400, "TopicMismatch", Sequel.NOT_REPEATED),
        apns(502, "http_502", Fate.of(Action.HTML), Sequel.RETRIED),
        fcm(400, "INVALID_ARGUMENT", Sequel.NOT_REPEATED),
        // FCM names the token's field when the token is invalid.
        new Answer(Channel.FCM, "~" + token(), null, 400, "INVALID_ARGUMENT", "", Sequel.FORGOTTEN),
        fcm(400, "UNSPECIFIED_ERROR", Sequel.NOT_REPEATED),
        fcm(401, "THIRD_PARTY_AUTH_ERROR", Sequel.RETRIED),
        fcm(401, "UNAUTHENTICATED", Sequel.PAUSED).after("access token renewed; sent again"),
        fcm(403, "PERMISSION_DENIED", Sequel.PAUSED),
        fcm(403, "SENDER_ID_MISMATCH", Sequel.FORGOTTEN),
        fcm(404, "NOT_FOUND", Sequel.IN_DOUBT),
        fcm(404, "UNREGISTERED", Sequel.FORGOTTEN),
        fcm(500, "INTERNAL", Sequel.RETRIED),
        fcm(503, "UNAVAILABLE", Sequel.RETRIED),
        fcm(502, "http_502", Fate.of(Action.HTML), Sequel.RETRIED),
        hms(400, "80100001", Sequel.NOT_REPEATED),
        hms(400, "80100003", Sequel.NOT_REPEATED),
        hms(400, "80100004", Sequel.NOT_REPEATED),
        hms(400, "80100013", Sequel.NOT_REPEATED),
        hms(400, "80100016", Sequel.NOT_REPEATED),
        hms(400, "80100017", Sequel.RETRIED),
        hms(400, "80100018", Sequel.NOT_REPEATED),
        hms(401, "80200001", Sequel.PAUSED).after("access token renewed; sent again"),
        hms(401, "80200003", Sequel.PAUSED).after("access token renewed; sent again"),
        hms(401, "80200005", Sequel.PAUSED).after("access token renewed; sent again"),
        hms(400, "80300002", Sequel.PAUSED),
        hms(400, "80300007", Sequel.FORGOTTEN),
        hms(400, "80300008", Sequel.NOT_REPEATED),
        hms(400, "80300010", Sequel.NOT_REPEATED),
        // Also without urgency.
        hms(400, "80300011", Sequel.NOT_REPEATED).after("sent again without urgency"),
        hms(400, "80300013", Sequel.NOT_REPEATED),
        hms(500, "80600003", Sequel.RETRIED),
        hms(500, "81000001", Sequel.RETRIED),
        hms(500, "82000001", Sequel.RETRIED),
        hms(400, "80999999", Sequel.NOT_REPEATED),
        hms(503, "http_503", Fate.answer(503, ""), Sequel.APP_RESTS),
        hms(502, "http_502", Fate.of(Action.HTML), Sequel.RETRIED),
        // The last of all: for a while they slow the whole project, so each has one of its own.
        fcm(429, "QUOTA_EXCEEDED", Sequel.SLOWED),
        fcm(429, "RESOURCE_EXHAUSTED", Sequel.SLOWED));
  }

  @ParameterizedTest
  @MethodSource("answers")
  void a_timeline_has_the_vendors_answer_and_its_consequences(Answer answer) throws Exception {
    String app = app(answer.channel());
    register(app, answer);
    if (answer.fate() != null) {
      platform
          .simulators
          .script()
          .add(ScriptLine.token(simulated(answer.channel()), answer.token(), answer.fate()));
    }

    // The vendor has accepted some messages, so that its answers about tokens are believed.
    delivery.deliver(answer.channel(), to(answer.channel(), app, token(), token()));
    delivery.deliver(answer.channel(), to(answer.channel(), app, answer.token()));
    new StatisticsWriter(servers.database())
        .write(servers.drain(Topology.EVENTS, DeliveryEvent.class));

    Map<String, Object> delivery =
        servers
            .sql()
            .queryForMap(
                "SELECT state, attempts FROM deliveries WHERE app_id = ? AND device_id = ?",
                app,
                device(answer.token()));
    assertThat(delivery.get("state")).isEqualTo(answer.sequel().state);
    JsonNode attempts = JsonMapper.shared().readTree(delivery.get("attempts").toString());
    assertThat(attempts).hasSize(answer.remedy().isEmpty() ? 1 : 2);
    JsonNode first = attempts.get(0);
    if (!answer.remedy().isEmpty()) {
      assertThat(first.path("result").asString()).isEqualTo("repeated");
      assertThat(first.path("status").asInt()).isEqualTo(answer.status());
      assertThat(first.path("reason").asString()).isEqualTo(answer.reason());
      assertThat(first.path("action").asString()).isEqualTo(answer.remedy());
    }
    JsonNode attempt = attempts.get(attempts.size() - 1);
    assertThat(attempt.path("channel").asString()).isEqualTo(answer.channel().word());
    assertThat(attempt.path("result").asString()).isEqualTo(answer.sequel().result);
    assertThat(attempt.path("status").asInt()).isEqualTo(answer.status());
    assertThat(attempt.path("reason").asString()).isEqualTo(answer.reason());
    assertThat(attempt.path("action").asString().replaceFirst("retry at 20\\S+Z$", "retry at …"))
        .isEqualTo(answer.sequel().action);
    assertThat(
            servers
                .sql()
                .queryForObject(
                    "SELECT COUNT(*) FROM channel_tokens WHERE app_id = ? AND dead_at IS NOT NULL",
                    Integer.class,
                    app))
        .isEqualTo(answer.sequel().forgets ? 1 : 0);
  }

  @Test
  void a_timeline_says_which_field_the_vendor_did_not_take() throws Exception {
    assertThat(
            detail(
                Channel.FCM,
                new Overrides(null, object("{\"android\":{\"ttl\":\"5\"}}"), null, null)))
        .isEqualTo("message.android.ttl: Illegal duration format; it ends in s");
    assertThat(
            detail(
                Channel.HMS, new Overrides(null, null, null, object("{\"no_such_field\":true}"))))
        .isEqualTo("a field is unknown");
  }

  @Test
  void a_timeline_has_the_vendors_words_about_the_credential() throws Exception {
    platform
        .simulators
        .script()
        .add(ScriptLine.next(Simulated.FCM, 1, Fate.answer(403, "PERMISSION_DENIED")));

    assertThat(detail(Channel.FCM, Overrides.NONE)).isEqualTo("Request failed: PERMISSION_DENIED");
  }

  private static ObjectNode object(String json) {
    return JsonMapper.shared().readTree(json).asObject();
  }

  /// Of its one attempt.
  private static String detail(Channel channel, Overrides overrides) throws Exception {
    String app = app(channel);
    Push push = to(channel, app, token());
    delivery.deliver(channel, PushBuilder.withOverrides(push, overrides));
    new StatisticsWriter(servers.database())
        .write(servers.drain(Topology.EVENTS, DeliveryEvent.class));
    return servers
        .sql()
        .queryForObject(
            "SELECT JSON_UNQUOTE(JSON_EXTRACT(attempts, '$[0].detail')) FROM deliveries"
                + " WHERE app_id = ?",
            String.class,
            app);
  }

  private static String app(Channel channel) {
    String app = "timeline-" + NUMBER.incrementAndGet();
    if (channel == Channel.APNS) {
      String id = "%010d".formatted(NUMBER.get());
      platform.uploadKey(
          app, ApnsKey.issue(id, id, List.of(ProviderPlatform.BUNDLE)), "production");
    } else if (channel == Channel.HMS) {
      platform.uploadClient(
          app, platform.simulators.hmsDirectory().issue("77" + NUMBER.get(), true));
    } else {
      platform.uploadAccount(app, FcmAccount.issue(app, platform.simulators.fcm().tokenUri()));
    }
    return app;
  }

  private static void register(String app, Answer answer) {
    servers
        .sql()
        .update(
            "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment,"
                + " registered_at) VALUES (?, ?, ?, ?, 'token', 'production', ?)",
            app,
            device(answer.token()),
            answer.channel().word(),
            answer.token(),
            Timestamp.from(CLOCK.instant().minus(Duration.ofDays(1))));
  }

  private static Push to(Channel channel, String app, String... tokens) {
    var push = aPush(CLOCK).from(app);
    for (String token : tokens) {
      String device = device(token);
      push =
          switch (channel) {
            case APNS -> push.toApns(device, token);
            case HMS -> push.toHms(device, token);
            case FCM, WEBPUSH, MQTT -> push.toFcm(device, token);
          };
    }
    return push.build();
  }

  private static String device(String token) {
    return "of-" + token.substring(token.length() - 16);
  }

  private static Answer apns(int status, String reason, Sequel sequel) {
    return apns(status, reason, Fate.answer(status, reason), sequel);
  }

  private static Answer apns(int status, String reason, Fate fate, Sequel sequel) {
    return new Answer(Channel.APNS, token(), fate, status, reason, "", sequel);
  }

  private static Answer fcm(int status, String reason, Sequel sequel) {
    return fcm(status, reason, Fate.answer(status, reason), sequel);
  }

  private static Answer fcm(int status, String reason, Fate fate, Sequel sequel) {
    return new Answer(Channel.FCM, token(), fate, status, reason, "", sequel);
  }

  private static Answer hms(int status, String reason, Sequel sequel) {
    return hms(status, reason, Fate.answer(status, reason), sequel);
  }

  private static Answer hms(int status, String reason, Fate fate, Sequel sequel) {
    return new Answer(Channel.HMS, token(), fate, status, reason, "", sequel);
  }

  private static String token() {
    return "%064x".formatted(0x71e1000 + NUMBER.incrementAndGet());
  }

  private static Simulated simulated(Channel channel) {
    return Simulated.of(channel.word());
  }
}
