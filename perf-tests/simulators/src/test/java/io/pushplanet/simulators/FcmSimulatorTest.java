package io.pushplanet.simulators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.simulators.fcm.FcmAccount;
import io.pushplanet.simulators.fcm.FcmToken;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Scenario;
import io.pushplanet.simulators.script.ScriptLine;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class FcmSimulatorTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String SCOPE = "https://www.googleapis.com/auth/firebase.messaging";

  @TempDir Path state;
  private final HandClock clock = new HandClock();
  private Simulators simulators;
  private HttpClient client;
  private FcmAccount.Issued account;

  @BeforeEach
  void start() {
    simulators = Simulators.start(Options.in(state), clock);
    account = FcmAccount.issue("demo", simulators.fcm().tokenUri());
    simulators.fcmDirectory().register(account.account());
    client = Senders.trusting(simulators.authority());
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    simulators.close();
  }

  private HttpResponse<String> oauth(String scope, Duration life) throws Exception {
    JsonNode file = JSON.readTree(account.json());
    long now = clock.instant().getEpochSecond();
    String jwt =
        Senders.jwt(
            "{\"alg\":\"RS256\",\"kid\":\"" + file.path("private_key_id").asString() + "\"}",
            """
            {"iss":"%s","scope":"%s","aud":"%s","iat":%d,"exp":%d}
            """
                .formatted(
                    file.path("client_email").asString(),
                    scope,
                    file.path("token_uri").asString(),
                    now,
                    now + life.toSeconds()),
            file.path("private_key").asString(),
            "RSA",
            "SHA256withRSA");
    String form =
        "grant_type="
            + URLEncoder.encode(
                "urn:ietf:params:oauth:grant-type:jwt-bearer", StandardCharsets.UTF_8)
            + "&assertion="
            + jwt;
    return client.send(
        HttpRequest.newBuilder(URI.create(simulators.fcm().tokenUri()))
            .header("content-type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(form))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private String accessToken() throws Exception {
    return JSON.readTree(oauth(SCOPE, Duration.ofHours(1)).body()).path("access_token").asString();
  }

  private HttpResponse<String> send(String bearer, String project, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(
                URI.create(
                    "https://localhost:"
                        + simulators.fcm().port()
                        + "/v1/projects/"
                        + project
                        + "/messages:send"))
            .timeout(Duration.ofSeconds(60))
            .header("authorization", "Bearer " + bearer)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> send(String message) throws Exception {
    return send(accessToken(), "demo", "{\"message\":" + message + "}");
  }

  private void invalid(String message, String field) throws Exception {
    HttpResponse<String> answer = send(message);

    JsonNode error = JSON.readTree(answer.body()).path("error");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(error.path("status").asString()).isEqualTo("INVALID_ARGUMENT");
    assertThat(error.at("/details/0/errorCode").asString()).isEqualTo("INVALID_ARGUMENT");
    assertThat(error.at("/details/1/fieldViolations/0/field").asString()).isEqualTo(field);
  }

  @Test
  void a_correct_message_is_accepted_and_entered_in_the_ledger() throws Exception {
    HttpResponse<String> answer =
        send(
            """
            {"token":"t:1","notification":{"title":"a"},"data":{"k":"v"},
             "android":{"ttl":"3600s","priority":"HIGH","collapse_key":"c"}}
            """);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(JSON.readTree(answer.body()).path("name").asString())
        .startsWith("projects/demo/messages/0:");
    assertThat(simulators.ledger().entries("t:1"))
        .singleElement()
        .returns(true, LedgerEntry::delivered)
        .returns("c", entry -> entry.payload().at("/android/collapse_key").asString());
  }

  private HttpClient old() {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .sslContext(Senders.tls(simulators.authority()))
        .build();
  }

  @Test
  void http_1_1_is_served_too() throws Exception {
    client = old();

    HttpResponse<String> answer = send("{\"token\":\"t1\"}");

    assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
    assertThat(answer.statusCode()).isEqualTo(200);
  }

  @Test
  void over_http_1_1_a_body_may_come_in_chunks() throws Exception {
    client = old();
    simulators.script().add(Scenario.parse("fcm next 1 trickle 200ms 503 UNAVAILABLE").getFirst());
    long start = System.nanoTime();

    HttpResponse<String> answer = send("{\"token\":\"t1\"}");

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(200));
    assertThat(answer.headers().firstValue("transfer-encoding")).contains("chunked");
    assertThat(JSON.readTree(answer.body()).at("/error/status").asString())
        .isEqualTo("UNAVAILABLE");
    assertThat(send("{\"token\":\"t1\"}").statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"reset", "refuse", "drop"})
  void over_http_1_1_a_connection_may_end_without_an_answer(String fate) {
    client = old();
    simulators.script().add(Scenario.parse("fcm next 1 " + fate).getFirst());

    assertThatExceptionOfType(IOException.class).isThrownBy(() -> send("{\"token\":\"t1\"}"));
    assertThat(simulators.ledger().entries("t1"))
        .singleElement()
        .returns(false, LedgerEntry::delivered);
  }

  @Test
  void an_access_token_lives_an_hour() throws Exception {
    String bearer = accessToken();
    assertThat(send(bearer, "demo", "{\"message\":{\"token\":\"t1\"}}").statusCode())
        .isEqualTo(200);

    clock.advance(Duration.ofSeconds(3_601));

    HttpResponse<String> late = send(bearer, "demo", "{\"message\":{\"token\":\"t1\"}}");
    assertThat(late.statusCode()).isEqualTo(401);
    assertThat(late.body()).contains("UNAUTHENTICATED");
  }

  @Test
  void an_assertion_for_another_scope_or_of_two_hours_gets_no_token() throws Exception {
    assertThat(oauth("email", Duration.ofHours(1)).statusCode()).isEqualTo(400);
    assertThat(oauth(SCOPE, Duration.ofHours(2)).body()).contains("invalid_grant");
  }

  @Test
  void an_access_token_does_not_open_another_project() throws Exception {
    HttpResponse<String> answer = send(accessToken(), "other", "{\"message\":{\"token\":\"t1\"}}");

    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(answer.body()).contains("PERMISSION_DENIED");
  }

  @Test
  void a_message_has_exactly_one_target() throws Exception {
    invalid("{}", "message");
    invalid("{\"token\":\"t1\",\"topic\":\"news\"}", "message");
  }

  @Test
  void a_topic_is_its_bare_name_and_has_half_the_room_of_a_device() throws Exception {
    invalid("{\"topic\":\"/topics/news\"}", "message.topic");
    invalid("{\"topic\":\"two words\"}", "message.topic");
    invalid("{\"topic\":\"" + "n".repeat(901) + "\"}", "message.topic");
    invalid("{\"topic\":\"news\",\"data\":{\"k\":\"" + "v".repeat(2_048) + "\"}}", "message");
    assertThat(
            send("{\"topic\":\"news\",\"data\":{\"k\":\"" + "v".repeat(2_047) + "\"}}")
                .statusCode())
        .isEqualTo(200);
    assertThat(simulators.ledger().entries("/topics/news"))
        .last()
        .returns(true, LedgerEntry::delivered);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "news",
        "'a' in topics and 'b' in topics",
        "('a' in topics",
        "'a' in topics &&",
        "'a' in topics 'b' in topics",
        "t && t",
        "'a' in topics || 'b' in topics || 'c' in topics || 'd' in topics || 'e' in topics || 'f' in topics"
      })
  void a_condition_is_an_expression_of_five_topics_at_most(String condition) throws Exception {
    invalid("{\"condition\":\"" + condition + "\"}", "message.condition");
  }

  @Test
  void a_message_to_a_condition_stands_in_the_ledger_under_the_condition() throws Exception {
    String condition = "'a' in topics && !('b' in topics || 'c' in topics)";

    assertThat(send("{\"condition\":\"" + condition + "\"}").statusCode()).isEqualTo(200);

    assertThat(simulators.ledger().entries(condition))
        .singleElement()
        .returns(true, LedgerEntry::delivered);
  }

  @Test
  void data_is_text_only() throws Exception {
    invalid("{\"token\":\"t1\",\"data\":{\"n\":1}}", "message.data.n");
  }

  @Test
  void reserved_data_keys_are_refused() throws Exception {
    invalid("{\"token\":\"t1\",\"data\":{\"from\":\"me\"}}", "message.data");
    invalid("{\"token\":\"t1\",\"data\":{\"google.x\":\"me\"}}", "message.data");
    invalid("{\"token\":\"t1\",\"data\":{\"gcm_x\":\"me\"}}", "message.data");
  }

  @Test
  void a_ttl_is_seconds_within_28_days() throws Exception {
    invalid("{\"token\":\"t1\",\"android\":{\"ttl\":\"PT1H\"}}", "message.android.ttl");
    invalid("{\"token\":\"t1\",\"android\":{\"ttl\":\"-1s\"}}", "message.android.ttl");
    invalid("{\"token\":\"t1\",\"android\":{\"ttl\":\"2419201s\"}}", "message.android.ttl");
    assertThat(send("{\"token\":\"t1\",\"android\":{\"ttl\":\"0s\"}}").statusCode()).isEqualTo(200);
  }

  @Test
  void a_collapse_key_is_text() throws Exception {
    invalid("{\"token\":\"t1\",\"android\":{\"collapse_key\":1}}", "message.android.collapse_key");
    invalid(
        "{\"token\":\"t1\",\"android\":{\"collapseKey\":[\"c\"]}}", "message.android.collapse_key");
  }

  @Test
  void more_than_four_collapse_keys_of_a_device_are_no_error() throws Exception {
    for (int i = 1; i <= 5; i++) {
      var message = "{\"token\":\"t1\",\"android\":{\"collapse_key\":\"c" + i + "\"}}";
      assertThat(send(message).statusCode()).isEqualTo(200);
    }

    assertThat(simulators.ledger().entries("t1"))
        .extracting(entry -> entry.payload().at("/android/collapse_key").asString())
        .containsExactly("c1", "c2", "c3", "c4", "c5");
  }

  @Test
  void an_unknown_field_is_refused() throws Exception {
    invalid("{\"token\":\"t1\",\"title\":\"x\"}", "message");
  }

  @Test
  void a_malformed_token_is_named_in_the_violations() throws Exception {
    invalid("{\"token\":\"not a token\"}", "message.token");
  }

  @Test
  void a_payload_has_at_most_4096_bytes() throws Exception {
    invalid("{\"token\":\"t1\",\"data\":{\"k\":\"" + "x".repeat(4_100) + "\"}}", "message");
  }

  @Test
  void validate_only_delivers_nothing() throws Exception {
    HttpResponse<String> answer =
        send(accessToken(), "demo", "{\"validate_only\":true,\"message\":{\"token\":\"t1\"}}");

    assertThat(answer.body()).contains("fake_message_id");
    assertThat(simulators.ledger().entries("t1").getFirst().delivered()).isFalse();
  }

  @Test
  void registered_tokens_meet_their_fate() throws Exception {
    simulators.fcmDirectory().register("gone", new FcmToken("", true));
    simulators.fcmDirectory().register("foreign", new FcmToken("other", false));

    HttpResponse<String> gone = send("{\"token\":\"gone\"}");
    HttpResponse<String> foreign = send("{\"token\":\"foreign\"}");

    assertThat(gone.statusCode()).isEqualTo(404);
    assertThat(JSON.readTree(gone.body()).at("/error/details/0/errorCode").asString())
        .isEqualTo("UNREGISTERED");
    assertThat(foreign.statusCode()).isEqualTo(403);
    assertThat(foreign.body()).contains("SENDER_ID_MISMATCH");
  }

  @Test
  void scripted_quota_html_and_oauth_faults_are_answered() throws Exception {
    String bearer = accessToken();
    simulators
        .script()
        .add(
            ScriptLine.next(
                Simulated.FCM,
                1,
                Fate.answer(429, "QUOTA_EXCEEDED").retryAfter(Duration.ofSeconds(7))));
    simulators.script().add(ScriptLine.next(Simulated.FCM, 1, Fate.of(Fate.Action.HTML)));
    simulators.script().add(ScriptLine.next(Simulated.OAUTH, 1, Fate.answer(503, "UNAVAILABLE")));
    String body = "{\"message\":{\"token\":\"t1\"}}";

    HttpResponse<String> quota = send(bearer, "demo", body);
    HttpResponse<String> html = send(bearer, "demo", body);
    HttpResponse<String> oauth = oauth(SCOPE, Duration.ofHours(1));

    assertThat(quota.statusCode()).isEqualTo(429);
    assertThat(quota.headers().firstValue("retry-after")).hasValue("7");
    assertThat(html.statusCode()).isEqualTo(502);
    assertThat(html.body()).startsWith("<html>");
    assertThat(oauth.statusCode()).isEqualTo(503);
  }

  @Test
  void the_management_port_takes_scripts_and_reports() throws Exception {
    URI base = URI.create("http://127.0.0.1:" + simulators.managementPort());
    HttpResponse<String> scripted =
        manage(
            "POST",
            base.resolve("/script"),
            "{\"provider\":\"fcm\",\"token\":\"t1\",\"status\":404,\"reason\":\"UNREGISTERED\"}");
    HttpResponse<String> misspelt =
        manage("POST", base.resolve("/script"), "{\"provider\":\"fcm\",\"stat\":404}");
    HttpResponse<String> issued =
        manage("POST", base.resolve("/apns/keys"), "{\"topics\":[\"io.example\"]}");

    HttpResponse<String> answer = send("{\"token\":\"t1\"}");

    assertThat(scripted.statusCode()).isEqualTo(204);
    assertThat(misspelt.statusCode()).isEqualTo(400);
    assertThat(misspelt.body()).contains("stat");
    assertThat(JSON.readTree(issued.body()).path("p8").asString()).contains("BEGIN PRIVATE KEY");
    assertThat(answer.statusCode()).isEqualTo(404);
    assertThat(manage("GET", base.resolve("/ledger?token=t1"), "").body())
        .contains("\"reason\":\"UNREGISTERED\"");
    assertThat(manage("GET", base.resolve("/ledger/summary"), "").body())
        .contains("\"delivered\":0");
    assertThat(manage("DELETE", base.resolve("/ledger"), "").statusCode()).isEqualTo(204);
    assertThat(manage("GET", base.resolve("/ledger"), "").body()).isEmpty();
  }

  private HttpResponse<String> manage(String method, URI uri, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(uri)
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
