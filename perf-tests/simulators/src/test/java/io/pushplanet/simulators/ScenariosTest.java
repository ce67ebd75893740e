package io.pushplanet.simulators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.fcm.FcmAccount;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Scenarios and rules set over the management port, and their effect on a sender.
class ScenariosTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final long REFUSED_STREAM = 0x7;
  private static final String TOKEN = "ab".repeat(32);

  @TempDir Path state;
  private final HandClock clock = new HandClock();
  private Simulators simulators;
  private HttpClient client;

  @BeforeEach
  void start() {
    simulators = Simulators.start(Options.in(state), clock);
    client = Senders.trusting(simulators.authority());
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    simulators.close();
  }

  private ApnsKey.Issued key(String id) {
    var key = ApnsKey.issue("TEAM123456", id, List.of("io.example.app"));
    simulators.apnsDirectory().register(key.key());
    return key;
  }

  private HttpResponse<String> push(HttpClient from, String jwt) throws Exception {
    return from.send(
        HttpRequest.newBuilder(
                URI.create("https://localhost:" + simulators.apns().port() + "/3/device/" + TOKEN))
            .timeout(Duration.ofSeconds(60))
            .header("authorization", "bearer " + jwt)
            .header("apns-topic", "io.example.app")
            .header("apns-push-type", "alert")
            .POST(HttpRequest.BodyPublishers.ofString("{\"aps\":{\"alert\":\"hello\"}}"))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private void manage(String method, String path, String body) throws Exception {
    var answer = managed(method, path, body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(204);
  }

  private HttpResponse<String> managed(String method, String path, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + simulators.managementPort() + path))
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void a_rule_whose_duration_is_none_is_refused() throws Exception {
    var answer = managed("PUT", "/apns/rules", "{\"token_renewal\":\"soon\"}");

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("soon").contains("is no duration");
  }

  @Test
  void a_scenario_runs_and_the_ledger_shows_it() throws Exception {
    var jwt = Senders.providerToken(key("KEY1234567"), clock.instant());
    manage(
        "POST",
        "/scenario",
        """
        apns after 2 next 1          answer 503 Shutdown
        apns from 10s until 20s      answer 429 TooManyRequests retry-after 5s
        apns after 3 1 in 2          answer 500 InternalServerError
        """);

    List<Integer> statuses = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      statuses.add(push(client, jwt).statusCode());
    }
    clock.advance(Duration.ofSeconds(10));
    var busy = push(client, jwt);
    clock.advance(Duration.ofSeconds(10));
    statuses.add(push(client, jwt).statusCode());

    // The third line counts only what the first ones let pass.
    assertThat(statuses).containsExactly(200, 200, 503, 200, 200, 500);
    assertThat(busy.statusCode()).isEqualTo(429);
    assertThat(busy.headers().firstValue("retry-after")).hasValue("5");
    assertThat(simulators.ledger().entries(TOKEN))
        .extracting(entry -> entry.status())
        .containsExactly(200, 200, 503, 200, 200, 429, 500);
  }

  @Test
  void a_body_that_trickles_comes_whole() throws Exception {
    var jwt = Senders.providerToken(key("KEY1234567"), clock.instant());
    manage("POST", "/scenario", "apns next 1 trickle 200ms 503 ServiceUnavailable");
    long start = System.nanoTime();

    var answer = push(client, jwt);

    assertThat(answer.body()).isEqualTo("{\"reason\":\"ServiceUnavailable\"}");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(200));
  }

  @Test
  void a_change_of_the_streams_counts_for_every_connection() throws Exception {
    var jwt = Senders.providerToken(key("KEY1234567"), clock.instant());
    manage("POST", "/scenario", "apns next 1 streams 7");

    try (FrameSender sender = new FrameSender(simulators.authority(), simulators.apns().port())) {
      post(sender, 1, jwt);
      Senders.eventually(() -> assertThat(sender.streams).containsExactly(1L, 7L));
      manage("POST", "/scenario", "apns silence");

      for (int stream = 3; stream <= 15; stream += 2) {
        post(sender, stream, jwt);
      }
      open(sender, 17, jwt);

      // Seven wait, and the eighth is one too many.
      Senders.eventually(() -> assertThat(sender.resets).isEqualTo(Map.of(17, REFUSED_STREAM)));
      assertThat(sender.answers).isEqualTo(Map.of(1, "200"));
    }
    try (FrameSender another = new FrameSender(simulators.authority(), simulators.apns().port())) {
      Senders.eventually(() -> assertThat(another.streams).containsExactly(1L));
    }
  }

  @Test
  void a_second_stream_is_refused_until_the_first_good_answer() throws Exception {
    var jwt = Senders.providerToken(key("KEY1234567"), clock.instant());
    manage("POST", "/scenario", "apns next 1 silence");
    try (FrameSender sender = new FrameSender(simulators.authority(), simulators.apns().port())) {
      Senders.eventually(() -> assertThat(sender.streams).containsExactly(1L));

      post(sender, 1, jwt);
      open(sender, 3, jwt);

      Senders.eventually(() -> assertThat(sender.resets).isEqualTo(Map.of(3, REFUSED_STREAM)));
      assertThat(sender.answers).isEmpty();
      assertThat(simulators.ledger().entries(TOKEN)).hasSize(1);
    }
  }

  @Test
  void what_is_under_way_on_a_refused_stream_counts_for_the_window_and_is_ignored()
      throws Exception {
    var jwt = Senders.providerToken(key("KEY1234567"), clock.instant());
    try (FrameSender sender = new FrameSender(simulators.authority(), simulators.apns().port())) {
      open(sender, 1, jwt);
      open(sender, 3, jwt);
      open(sender, 5, jwt);
      open(sender, 7, jwt);
      var refused = Map.of(3, REFUSED_STREAM, 5, REFUSED_STREAM, 7, REFUSED_STREAM);
      Senders.eventually(() -> assertThat(sender.resets).isEqualTo(refused));

      // The server gives back what it has counted when that is half of the 65,535 bytes.
      sender.end(3, "x".repeat(40_000));
      Senders.eventually(() -> assertThat(sender.givenBack).hasPositiveValue());
      sender.enlargeWindow(5);
      sender.reset(5);
      sender.end(1, "{\"aps\":{\"alert\":\"hello\"}}");
      Senders.eventually(() -> assertThat(sender.answers).isEqualTo(Map.of(1, "200")));
      post(sender, 9, jwt);
      sender.end(7, "{}");
      post(sender, 11, jwt);

      Senders.eventually(
          () -> assertThat(sender.answers).isEqualTo(Map.of(1, "200", 9, "200", 11, "200")));
      assertThat(sender.resets).isEqualTo(refused);
      assertThat(sender.goAways).isEmpty();
    }
  }

  @Test
  void a_connection_outlives_any_number_of_refused_streams() throws Exception {
    var jwt = Senders.providerToken(key("KEY1234567"), clock.instant());
    try (FrameSender sender = new FrameSender(simulators.authority(), simulators.apns().port())) {
      open(sender, 1, jwt);

      for (int stream = 3; stream <= 601; stream += 2) {
        open(sender, stream, jwt);
      }
      Senders.eventually(() -> assertThat(sender.resets).hasSize(300));
      sender.end(1, "{\"aps\":{\"alert\":\"hello\"}}");

      Senders.eventually(() -> assertThat(sender.answers).isEqualTo(Map.of(1, "200")));
      assertThat(sender.goAways).isEmpty();
    }
  }

  @Test
  void a_goaway_says_its_reason_and_the_last_stream() throws Exception {
    var jwt = Senders.providerToken(key("KEY1234567"), clock.instant());
    manage("POST", "/scenario", "apns after 1 next 1 goaway Shutdown");
    try (FrameSender sender = new FrameSender(simulators.authority(), simulators.apns().port())) {
      post(sender, 1, jwt);
      Senders.eventually(() -> assertThat(sender.streams).containsExactly(1L, 1_000L));

      post(sender, 3, jwt);

      Senders.eventually(() -> assertThat(sender.goAways).hasSize(1));
      assertThat(sender.goAways)
          .containsExactly(new FrameSender.GoAway(3, 0, "{\"reason\":\"Shutdown\"}"));
      assertThat(sender.answers).isEqualTo(Map.of(1, "200", 3, "200"));
    }
  }

  private static void post(FrameSender sender, int stream, String jwt) {
    open(sender, stream, jwt);
    sender.end(stream, "{\"aps\":{\"alert\":\"hello\"}}");
  }

  private static void open(FrameSender sender, int stream, String jwt) {
    sender.open(
        stream,
        "/3/device/" + TOKEN,
        Map.of(
            "authorization", "bearer " + jwt,
            "apns-topic", "io.example.app",
            "apns-push-type", "alert"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"expired", "elsewhere", "stranger"})
  void new_connections_refuse_an_untrusted_certificate(String face) throws Exception {
    // The sender checks with the real time.
    simulators.close();
    simulators = Simulators.start(Options.in(state), Clock.systemUTC());
    var jwt = Senders.providerToken(key("KEY1234567"), Clock.systemUTC().instant());
    manage(
        "POST",
        "/scenario",
        "apns next 1 certificate " + face + "\napns next 1 certificate trusted");

    push(client, jwt);
    var other = Senders.trusting(simulators.authority());
    try {
      assertThatThrownBy(() -> push(other, jwt)).isInstanceOf(SSLHandshakeException.class);
      // Existing connections stay.
      assertThat(push(client, jwt).statusCode()).isEqualTo(200);
      assertThat(push(other, jwt).statusCode()).isEqualTo(200);
    } finally {
      other.shutdownNow();
    }
  }

  @Test
  void token_updates_are_counted_per_team_unless_asked_per_key() throws Exception {
    manage("PUT", "/apns/rules", "{\"updates_per\":\"key\"}");
    var first = Senders.providerToken(key("KEY1234567"), clock.instant());
    var second = Senders.providerToken(key("KEY7654321"), clock.instant());
    var third = Senders.providerToken(key("KEY0000001"), clock.instant());
    assertThat(push(client, first).statusCode()).isEqualTo(200);
    assertThat(pushOnNewConnection(second).statusCode()).isEqualTo(200);

    manage("PUT", "/apns/rules", "{}");
    var fourth = Senders.providerToken(key("KEY0000002"), clock.instant());
    var taken = pushOnNewConnection(third);
    var tooMany = pushOnNewConnection(fourth);
    clock.advance(Duration.ofMinutes(20));
    var later = pushOnNewConnection(fourth);

    assertThat(taken.statusCode()).isEqualTo(200);
    assertThat(tooMany.body()).contains("TooManyProviderTokenUpdates");
    assertThat(later.statusCode()).isEqualTo(200);
  }

  private HttpResponse<String> pushOnNewConnection(String jwt) throws Exception {
    try (var another = Senders.trusting(simulators.authority())) {
      return push(another, jwt);
    }
  }

  @Test
  void a_projects_quota_is_refilled_each_minute_off_the_clocks_minute() throws Exception {
    manage("PUT", "/fcm/quotas", "{\"project_minute\":3}");
    var bearer = accessToken("demo");
    assertThat(toFcm("demo", bearer, "t1").statusCode()).isEqualTo(200);
    assertThat(toFcm("demo", bearer, "t2").statusCode()).isEqualTo(200);
    assertThat(toFcm("demo", bearer, "t3").statusCode()).isEqualTo(200);

    var over = toFcm("demo", bearer, "t4");
    var error = JSON.readTree(over.body()).path("error");
    var wait = Duration.ofSeconds(Long.parseLong(over.headers().firstValue("retry-after").get()));
    clock.advance(wait);
    var later = toFcm("demo", bearer, "t4");

    assertThat(over.statusCode()).isEqualTo(429);
    assertThat(error.at("/details/0/errorCode").asString()).isEqualTo("QUOTA_EXCEEDED");
    assertThat(error.at("/details/1/violations/0/subject").asString()).isEqualTo("project:demo");
    assertThat(wait).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(60));
    // The clock started on the full minute.
    assertThat(wait).isNotEqualTo(Duration.ofSeconds(60));
    assertThat(later.statusCode()).isEqualTo(200);
  }

  @Test
  void a_client_error_uses_its_projects_quota() throws Exception {
    manage("PUT", "/fcm/quotas", "{\"project_minute\":4}");
    manage("PUT", "/fcm/tokens/gone", "{\"project_id\":\"\",\"unregistered\":true}");
    manage("PUT", "/fcm/tokens/foreign", "{\"project_id\":\"other\",\"unregistered\":false}");
    var bearer = accessToken("demo");

    var invalid = fcm("demo", bearer, "{\"message\":{}}");
    var gone = toFcm("demo", bearer, "gone");
    var foreign = toFcm("demo", bearer, "foreign");
    var good = toFcm("demo", bearer, "t1");
    var over = toFcm("demo", bearer, "t1");
    var overAndInvalid = fcm("demo", bearer, "{\"message\":{}}");

    assertThat(List.of(invalid, gone, foreign, good, over, overAndInvalid))
        .extracting(HttpResponse::statusCode)
        .containsExactly(400, 404, 403, 200, 429, 429);
  }

  @Test
  void a_request_without_the_projects_access_token_uses_none_of_its_quota() throws Exception {
    manage("PUT", "/fcm/quotas", "{\"project_minute\":1}");
    var bearer = accessToken("demo");

    var anonymous = toFcm("demo", "nonsense", "t1");
    var stranger = toFcm("demo", accessToken("other"), "t1");
    var good = toFcm("demo", bearer, "t1");

    assertThat(List.of(anonymous, stranger, good))
        .extracting(HttpResponse::statusCode)
        .containsExactly(401, 403, 200);
  }

  @Test
  void an_answer_of_429_uses_none_of_its_projects_quota() throws Exception {
    manage(
        "PUT",
        "/fcm/quotas",
        "{\"project_minute\":3,\"device_minute\":1,\"device_hour\":100,\"topic_minute\":1}");
    var bearer = accessToken("demo");
    var busy = "{\"message\":{\"topic\":\"busy\"}}";
    assertThat(toFcm("demo", bearer, "t1").statusCode()).isEqualTo(200);
    assertThat(fcm("demo", bearer, busy).statusCode()).isEqualTo(200);

    var deviceIsOver = toFcm("demo", bearer, "t1");
    var topicIsOver = fcm("demo", bearer, busy);
    var last = toFcm("demo", bearer, "t2");
    var projectIsOver = toFcm("demo", bearer, "t3");

    assertThat(deviceIsOver.body()).contains("\"device:t1\"");
    assertThat(topicIsOver.body()).contains("\"topic:demo/topics/busy\"");
    assertThat(last.statusCode()).isEqualTo(200);
    assertThat(projectIsOver.body()).contains("\"project:demo\"");
  }

  @Test
  void a_device_has_its_own_quota_on_request() throws Exception {
    manage("PUT", "/fcm/quotas", "{\"device_minute\":2,\"device_hour\":100}");
    var bearer = accessToken("demo");
    toFcm("demo", bearer, "t1");
    toFcm("demo", bearer, "t1");

    var over = toFcm("demo", bearer, "t1");
    var other = toFcm("demo", bearer, "t2");

    assertThat(over.body()).contains("\"device:t1\"");
    assertThat(other.statusCode()).isEqualTo(200);
  }

  @Test
  void a_topic_has_its_own_quota_on_request() throws Exception {
    manage("PUT", "/fcm/quotas", "{\"topic_minute\":1}");
    var bearer = accessToken("demo");
    var busy = "{\"message\":{\"topic\":\"busy\"}}";
    fcm("demo", bearer, busy);

    assertThat(fcm("demo", bearer, busy).body()).contains("\"topic:demo/topics/busy\"");
    assertThat(fcm("demo", bearer, "{\"message\":{\"topic\":\"quiet\"}}").statusCode())
        .isEqualTo(200);
    assertThat(fcm("other", accessToken("other"), busy).statusCode()).isEqualTo(200);
    assertThat(toFcm("demo", bearer, "busy").statusCode()).isEqualTo(200);
  }

  private String accessToken(String project) throws Exception {
    var account = FcmAccount.issue(project, simulators.fcm().tokenUri());
    simulators.fcmDirectory().register(account.account());
    JsonNode file = JSON.readTree(account.json());
    long now = clock.instant().getEpochSecond();
    var assertion =
        Senders.jwt(
            "{\"alg\":\"RS256\",\"typ\":\"JWT\"}",
            "{\"iss\":\"%s\",\"scope\":\"https://www.googleapis.com/auth/firebase.messaging\",\"aud\":\"%s\",\"iat\":%d,\"exp\":%d}"
                .formatted(
                    file.path("client_email").asString(),
                    simulators.fcm().tokenUri(),
                    now,
                    now + 3_600),
            file.path("private_key").asString(),
            "RSA",
            "SHA256withRSA");
    var answer =
        client.send(
            HttpRequest.newBuilder(URI.create(simulators.fcm().tokenUri()))
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
                            + assertion))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    return JSON.readTree(answer.body()).path("access_token").asString();
  }

  private HttpResponse<String> toFcm(String project, String bearer, String token) throws Exception {
    return fcm(project, bearer, "{\"message\":{\"token\":\"" + token + "\"}}");
  }

  private HttpResponse<String> fcm(String project, String bearer, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(
                URI.create(
                    "https://localhost:"
                        + simulators.fcm().port()
                        + "/v1/projects/"
                        + project
                        + "/messages:send"))
            .header("authorization", "Bearer " + bearer)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
