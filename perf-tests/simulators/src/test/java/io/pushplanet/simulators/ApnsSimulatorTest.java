package io.pushplanet.simulators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.apns.ApnsToken;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.ScriptLine;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApnsSimulatorTest {
  private static final String TOKEN = "ab".repeat(32);
  private static final String PAYLOAD = "{\"aps\":{\"alert\":\"hello\"}}";

  @TempDir Path state;
  private final HandClock clock = new HandClock();
  private final ApnsKey.Issued key =
      ApnsKey.issue("TEAM123456", "KEY1234567", List.of("io.example.app"));
  private final Map<Instant, String> providerTokens = new HashMap<>();
  private Simulators simulators;
  private HttpClient client;

  @BeforeEach
  void start() {
    simulators = Simulators.start(Options.in(state), clock);
    simulators.apnsDirectory().register(key.key());
    client = Senders.trusting(simulators.authority());
  }

  private void connectAgain() {
    client.shutdownNow();
    client = Senders.trusting(simulators.authority());
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    simulators.close();
  }

  /// One token as long as the clock stands still: a second one would be an update.
  private String providerToken() {
    return providerTokens.computeIfAbsent(clock.instant(), at -> Senders.providerToken(key, at));
  }

  /// A valid request, which a test then spoils.
  private final class Push {
    String method = "POST";
    String path = "/3/device/" + TOKEN;
    String body = PAYLOAD;
    int port = simulators.apns().port();
    Duration patience = Duration.ofSeconds(60);
    final Map<String, String> headers = new LinkedHashMap<>();

    Push() {
      headers.put("authorization", "bearer " + providerToken());
      headers.put("apns-topic", "io.example.app");
      headers.put("apns-push-type", "alert");
    }

    Push with(String name, String value) {
      headers.put(name, value);
      return this;
    }

    Push without(String name) {
      headers.remove(name);
      return this;
    }

    Push body(String text) {
      body = text;
      return this;
    }

    Push path(String text) {
      path = text;
      return this;
    }

    Push method(String text) {
      method = text;
      return this;
    }

    Push port(int number) {
      port = number;
      return this;
    }

    Push patience(Duration longest) {
      patience = longest;
      return this;
    }

    HttpRequest request() {
      HttpRequest.Builder builder =
          HttpRequest.newBuilder(URI.create("https://localhost:" + port + path))
              .timeout(patience)
              .method(method, HttpRequest.BodyPublishers.ofString(body));
      headers.forEach(builder::header);
      return builder.build();
    }

    HttpResponse<String> send() throws Exception {
      return client.send(request(), HttpResponse.BodyHandlers.ofString());
    }
  }

  private void refused(Push push, int status, String reason) throws Exception {
    HttpResponse<String> answer = push.send();

    assertThat(answer.body()).isEqualTo("{\"reason\":\"" + reason + "\"}");
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(simulators.ledger().entries("").getLast())
        .returns(reason, LedgerEntry::reason)
        .returns(false, LedgerEntry::delivered);
  }

  @Test
  void a_correct_push_is_accepted_over_http2_and_entered_in_the_ledger() throws Exception {
    String id = "0197aaaa-0000-7000-8000-000000000001";

    HttpResponse<String> answer = new Push().with("apns-id", id).send();

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
    assertThat(answer.headers().firstValue("apns-id")).hasValue(id);
    assertThat(simulators.ledger().entries(TOKEN))
        .singleElement()
        .returns(id, LedgerEntry::id)
        .returns(true, LedgerEntry::delivered)
        .returns("hello", e -> e.payload().path("aps").path("alert").asString());
  }

  @Test
  void an_id_is_made_up_when_none_is_given() throws Exception {
    assertThat(new Push().send().headers().firstValue("apns-id").orElse("")).hasSize(36);
  }

  @Test
  void only_post_is_allowed() throws Exception {
    refused(new Push().method("PUT"), 405, "MethodNotAllowed");
  }

  @Test
  void another_path_is_bad() throws Exception {
    refused(new Push().path("/2/device/" + TOKEN), 404, "BadPath");
  }

  @Test
  void a_path_without_token_is_refused() throws Exception {
    refused(new Push().path("/3/device/"), 400, "MissingDeviceToken");
  }

  @Test
  void a_token_that_is_not_hex_is_bad() throws Exception {
    refused(new Push().path("/3/device/" + "xy".repeat(32)), 400, "BadDeviceToken");
  }

  @Test
  void a_repeated_header_is_refused() throws Exception {
    HttpRequest twice =
        HttpRequest.newBuilder(new Push().request(), (name, value) -> true)
            .header("apns-topic", "io.example.app")
            .build();

    HttpResponse<String> answer = client.send(twice, HttpResponse.BodyHandlers.ofString());

    assertThat(answer.body()).contains("DuplicateHeaders");
  }

  @Test
  void a_push_needs_a_provider_token() throws Exception {
    refused(new Push().without("authorization"), 403, "MissingProviderToken");
  }

  @Test
  void a_provider_token_of_an_unknown_key_is_invalid() throws Exception {
    ApnsKey.Issued stranger = ApnsKey.issue("TEAM123456", "KEY0000000", List.of());
    String jwt = Senders.providerToken(stranger, clock.instant());

    refused(new Push().with("authorization", "bearer " + jwt), 403, "InvalidProviderToken");
  }

  @Test
  void a_provider_token_signed_by_another_key_is_invalid() throws Exception {
    ApnsKey.Issued forged = ApnsKey.issue("TEAM123456", "KEY1234567", List.of());
    String jwt = Senders.providerToken(forged, clock.instant());

    refused(new Push().with("authorization", "bearer " + jwt), 403, "InvalidProviderToken");
  }

  @Test
  void a_provider_token_older_than_an_hour_has_expired() throws Exception {
    String jwt = Senders.providerToken(key, clock.instant().minus(Duration.ofMinutes(61)));

    refused(new Push().with("authorization", "bearer " + jwt), 403, "ExpiredProviderToken");
  }

  @Test
  void a_connection_takes_no_other_token_after_one_that_has_expired() throws Exception {
    String jwt = Senders.providerToken(key, clock.instant().minus(Duration.ofMinutes(61)));
    refused(new Push().with("authorization", "bearer " + jwt), 403, "ExpiredProviderToken");

    refused(new Push(), 403, "ExpiredProviderToken");
    connectAgain();
    assertThat(new Push().send().statusCode()).isEqualTo(200);
  }

  @Test
  void a_provider_token_may_change_every_twenty_minutes_but_not_sooner() throws Exception {
    new Push().send();
    clock.advance(Duration.ofMinutes(19));
    refused(new Push(), 429, "TooManyProviderTokenUpdates");

    clock.advance(Duration.ofMinutes(2));

    refused(new Push(), 429, "TooManyProviderTokenUpdates");
    connectAgain();
    assertThat(new Push().send().statusCode()).isEqualTo(200);
  }

  @Test
  void one_connection_keeps_to_the_key_of_its_first_push() throws Exception {
    ApnsKey.Issued second = ApnsKey.issue("TEAM123456", "KEY7654321", List.of("io.example.app"));
    simulators.apnsDirectory().register(second.key());
    new Push().send();
    clock.advance(Duration.ofMinutes(20));

    String jwt = Senders.providerToken(second, clock.instant());

    refused(new Push().with("authorization", "bearer " + jwt), 403, "UnrelatedKeyIdInToken");
  }

  @Test
  void one_connection_keeps_to_one_team() throws Exception {
    ApnsKey.Issued other = ApnsKey.issue("TEAM654321", "KEY7654321", List.of("io.example.app"));
    simulators.apnsDirectory().register(other.key());
    new Push().send();

    String jwt = Senders.providerToken(other, clock.instant());

    refused(new Push().with("authorization", "bearer " + jwt), 403, "InvalidProviderToken");
  }

  @Test
  void a_key_for_the_sandbox_is_refused_in_production() throws Exception {
    simulators
        .apnsDirectory()
        .register(
            new ApnsKey(
                key.key().teamId(),
                key.key().keyId(),
                key.key().publicKeyPem(),
                key.key().topics(),
                "sandbox"));

    refused(new Push(), 403, "BadEnvironmentKeyIdInToken");
  }

  @Test
  void a_topic_is_needed() throws Exception {
    refused(new Push().without("apns-topic"), 400, "MissingTopic");
  }

  @Test
  void a_topic_of_another_team_is_disallowed() throws Exception {
    refused(new Push().with("apns-topic", "io.other"), 400, "TopicDisallowed");
  }

  @ParameterizedTest
  @CsvSource({
    "alert, ''",
    "background, ''",
    "mdm, ''",
    "voip, .voip",
    "complication, .complication",
    "fileprovider, .pushkit.fileprovider",
    "location, .location-query",
    "liveactivity, .push-type.liveactivity",
    "pushtotalk, .voip-ptt",
    "widgets, .push-type.widgets",
    "controls, .push-type.controls"
  })
  void each_push_type_has_its_topic_its_priority_and_its_size(String type, String suffix)
      throws Exception {
    int largest = type.equals("voip") ? 5_120 : 4_096;
    String around = "{\"aps\":{},\"x\":\"\"}";
    Push push =
        new Push()
            .with("apns-push-type", type)
            .with("apns-topic", "io.example.app" + suffix)
            .with("apns-priority", "5")
            .body("{\"aps\":{},\"x\":\"" + "x".repeat(largest - around.length()) + "\"}");

    assertThat(push.send().statusCode()).isEqualTo(200);
    refused(
        push.body("{\"aps\":{},\"x\":\"" + "x".repeat(largest - around.length() + 1) + "\"}"),
        413,
        "PayloadTooLarge");
    refused(push.body(PAYLOAD).with("apns-priority", "7"), 400, "BadPriority");
    if (!suffix.isEmpty()) {
      refused(
          push.with("apns-priority", "5").with("apns-topic", "io.example.app"), 400, "BadTopic");
    }
  }

  @Test
  void a_push_type_is_needed_and_must_be_known() throws Exception {
    refused(new Push().without("apns-push-type"), 400, "InvalidPushType");
    refused(new Push().with("apns-push-type", "shout"), 400, "InvalidPushType");
  }

  @Test
  void a_background_push_must_have_priority_five() throws Exception {
    refused(new Push().with("apns-push-type", "background"), 400, "BadPriority");
    Push right = new Push().with("apns-push-type", "background").with("apns-priority", "5");
    assertThat(right.send().statusCode()).isEqualTo(200);
  }

  @Test
  void an_expiration_is_a_number_of_seconds() throws Exception {
    refused(new Push().with("apns-expiration", "tomorrow"), 400, "BadExpirationDate");
  }

  @Test
  void an_id_is_a_uuid() throws Exception {
    refused(new Push().with("apns-id", "42"), 400, "BadMessageId");
  }

  @Test
  void a_collapse_id_has_at_most_64_bytes() throws Exception {
    refused(new Push().with("apns-collapse-id", "ü".repeat(33)), 400, "BadCollapseId");
    refused(new Push().with("apns-collapse-id", "c".repeat(65)), 400, "BadCollapseId");
    String longest = "c".repeat(64);
    assertThat(new Push().with("apns-collapse-id", longest).send().statusCode()).isEqualTo(200);

    assertThat(simulators.ledger().entries(TOKEN))
        .last()
        .returns(longest, entry -> entry.headers().get("apns-collapse-id"));
  }

  @Test
  void an_empty_payload_and_one_that_is_not_json_are_refused() throws Exception {
    refused(new Push().body(""), 400, "PayloadEmpty");
    refused(new Push().body("hello"), 400, "PayloadEmpty");
  }

  @Test
  void a_sandbox_token_is_bad_in_production_and_good_in_the_sandbox() throws Exception {
    simulators.apnsDirectory().register(TOKEN, new ApnsToken("sandbox", "", 0));

    refused(new Push(), 400, "BadDeviceToken");
    assertThat(new Push().port(simulators.apnsSandbox().port()).send().statusCode()).isEqualTo(200);
  }

  @Test
  void a_token_of_another_app_is_refused() throws Exception {
    simulators.apnsDirectory().register(TOKEN, new ApnsToken("production", "io.other", 0));

    refused(new Push(), 400, "DeviceTokenNotForTopic");
  }

  @Test
  void a_token_that_is_gone_answers_410_with_its_time() throws Exception {
    simulators.apnsDirectory().register(TOKEN, new ApnsToken("production", "", 1_700_000_000_000L));

    HttpResponse<String> answer = new Push().send();

    assertThat(answer.statusCode()).isEqualTo(410);
    assertThat(answer.body())
        .isEqualTo("{\"reason\":\"Unregistered\",\"timestamp\":1700000000000}");
  }

  @Test
  void a_scripted_429_carries_retry_after_and_ends_after_its_number() throws Exception {
    Fate slowDown = Fate.answer(429, "TooManyRequests").retryAfter(Duration.ofSeconds(30));
    simulators.script().add(ScriptLine.next(Simulated.APNS, 1, slowDown));

    HttpResponse<String> first = new Push().send();
    HttpResponse<String> second = new Push().send();

    assertThat(first.statusCode()).isEqualTo(429);
    assertThat(first.headers().firstValue("retry-after")).hasValue("30");
    assertThat(second.statusCode()).isEqualTo(200);
  }

  @Test
  void a_scripted_silence_never_answers_but_is_in_the_ledger() {
    simulators.script().add(ScriptLine.token(Simulated.APNS, TOKEN, Fate.of(Fate.Action.SILENCE)));

    // On a busy machine two seconds may pass before the request arrives: then once more, with more
    // patience.
    for (int seconds = 2; seconds <= 64 && simulators.ledger().entries(TOKEN).isEmpty(); ) {
      Push unanswered = new Push().patience(Duration.ofSeconds(seconds));
      assertThatThrownBy(unanswered::send).isInstanceOf(HttpTimeoutException.class);
      seconds *= 2;
    }

    assertThat(simulators.ledger().entries(TOKEN))
        .isNotEmpty()
        .allSatisfy(entry -> assertThat(entry.status()).isZero());
  }

  @Test
  void a_scripted_reset_fails_the_stream() {
    simulators.script().add(ScriptLine.next(Simulated.APNS, 1, Fate.of(Fate.Action.RESET)));

    assertThatThrownBy(() -> new Push().send()).hasMessageContaining("RST_STREAM");
  }

  @Test
  void after_a_scripted_goaway_the_next_push_comes_on_a_new_connection() throws Exception {
    simulators.script().add(ScriptLine.next(Simulated.APNS, 1, Fate.of(Fate.Action.GOAWAY)));

    HttpResponse<String> last = new Push().send();
    HttpResponse<String> next = new Push().send();

    assertThat(List.of(last.statusCode(), next.statusCode())).containsOnly(200);
    assertThat(simulators.ledger().entries(TOKEN)).hasSize(2);
  }

  @Test
  void the_ledger_survives_a_restart() throws Exception {
    new Push().send();

    simulators.close();
    simulators = Simulators.start(Options.in(state), clock);

    assertThat(simulators.ledger().entries(TOKEN)).hasSize(1);
    client = Senders.trusting(simulators.authority());
    assertThat(new Push().send().statusCode()).isEqualTo(200);
    assertThat(simulators.ledger().entries(TOKEN).getLast().seq()).isEqualTo(2);
  }

  private Push channels(String method) {
    return new Push()
        .method(method)
        .path("/1/apps/io.example.app/channels")
        .without("apns-topic")
        .without("apns-push-type");
  }

  private String channel(int policy) throws Exception {
    HttpResponse<String> made =
        channels("POST")
            .body("{\"message-storage-policy\":" + policy + ",\"push-type\":\"LiveActivity\"}")
            .send();
    assertThat(made.statusCode()).isEqualTo(201);
    return made.headers().firstValue("apns-channel-id").orElseThrow();
  }

  private Push broadcast(String channel) {
    return new Push()
        .path("/4/broadcasts/apps/io.example.app")
        .without("apns-topic")
        .with("apns-push-type", "liveactivity")
        .with("apns-channel-id", channel)
        .with("apns-expiration", "0")
        .with("apns-priority", "10")
        .body("{\"aps\":{\"event\":\"update\"}}");
  }

  @Test
  void a_broadcast_goes_to_a_channel_until_it_is_deleted() throws Exception {
    String channel = channel(0);

    HttpResponse<String> sent = broadcast(channel).with("apns-request-id", "r1").send();
    HttpResponse<String> all =
        channels("GET").path("/1/apps/io.example.app/all-channels").body("").send();
    HttpResponse<String> one = channels("GET").with("apns-channel-id", channel).body("").send();
    HttpResponse<String> deleted =
        channels("DELETE").with("apns-channel-id", channel).body("").send();

    assertThat(sent.statusCode()).isEqualTo(200);
    assertThat(sent.headers().firstValue("apns-request-id")).hasValue("r1");
    assertThat(all.body()).isEqualTo("{\"channels\":[\"" + channel + "\"]}");
    assertThat(one.body())
        .isEqualTo("{\"message-storage-policy\":0,\"push-type\":\"LiveActivity\"}");
    assertThat(deleted.statusCode()).isEqualTo(204);
    refused(broadcast(channel), 400, "ChannelNotRegistered");
    refused(channels("DELETE").with("apns-channel-id", channel), 400, "ChannelNotRegistered");
    assertThat(simulators.ledger().entries(channel).stream().filter(LedgerEntry::delivered))
        .singleElement()
        .returns("r1", LedgerEntry::id)
        .returns("update", entry -> entry.payload().path("aps").path("event").asString());
  }

  @Test
  void a_broadcast_follows_apples_rules() throws Exception {
    String channel = channel(0);
    String keeping = channel(1);

    refused(broadcast(channel).method("PUT"), 405, "MethodNotAllowed");
    refused(broadcast(channel).without("authorization"), 403, "MissingProviderToken");
    refused(broadcast(channel).path("/4/broadcasts/apps/io.other.app"), 400, "TopicMismatch");
    refused(broadcast(channel).without("apns-push-type"), 400, "MissingPushType");
    refused(broadcast(channel).with("apns-push-type", "alert"), 400, "InvalidPushType");
    refused(broadcast(channel).without("apns-channel-id"), 400, "MissingChannelId");
    refused(broadcast("channel 7"), 400, "BadChannelId");
    refused(broadcast(channel).without("apns-expiration"), 400, "BadExpirationDate");
    refused(broadcast(channel).with("apns-expiration", "1900000000"), 400, "BadExpirationDate");
    refused(broadcast(channel).with("apns-priority", "7"), 400, "BadPriority");
    refused(broadcast(channel).body("{}"), 400, "PayloadEmpty");
    refused(
        broadcast(channel).body("{\"aps\":{\"a\":\"" + "x".repeat(5_120) + "\"}}"),
        413,
        "PayloadTooLarge");
    assertThat(broadcast(keeping).with("apns-expiration", "1900000000").send().statusCode())
        .isEqualTo(200);
  }

  @Test
  void the_creation_of_a_channel_follows_apples_rules() throws Exception {
    refused(channels("PUT"), 405, "MethodNotAllowed");
    refused(channels("GET").path("/1/apps/io.example.app/some-channels"), 404, "BadPath");
    refused(channels("POST").path("/1/apps/io.other.app/channels"), 400, "TopicMismatch");
    refused(channels("POST").body("{\"push-type\":\"LiveActivity\"}"), 400, "PayloadEmpty");
    refused(
        channels("POST").body("{\"message-storage-policy\":1,\"push-type\":\"Alert\"}"),
        400,
        "InvalidPushType");
    refused(channels("GET"), 400, "MissingChannelId");
    refused(channels("DELETE").with("apns-channel-id", "%%%"), 400, "BadChannelId");
  }
}
