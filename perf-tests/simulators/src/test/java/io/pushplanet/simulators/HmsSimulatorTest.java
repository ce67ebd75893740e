package io.pushplanet.simulators;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.simulators.hms.HmsClient;
import io.pushplanet.simulators.hms.HmsToken;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.script.Scenario;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

class HmsSimulatorTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String APP = "10086";

  @TempDir Path state;
  private final HandClock clock = new HandClock();
  private Simulators simulators;
  private HttpClient client;
  private HmsClient app;

  @BeforeEach
  void start() {
    simulators = Simulators.start(Options.in(state), clock);
    app = simulators.hmsDirectory().issue(APP, true);
    client = Senders.trusting(simulators.authority());
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    simulators.close();
  }

  private HttpResponse<String> oauth(String id, String secret) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(simulators.hms().tokenUri()))
            .header("content-type", "application/x-www-form-urlencoded")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "grant_type=client_credentials&client_id="
                        + URLEncoder.encode(id, StandardCharsets.UTF_8)
                        + "&client_secret="
                        + URLEncoder.encode(secret, StandardCharsets.UTF_8)))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private String accessToken() throws Exception {
    return JSON.readTree(oauth(APP, app.secret()).body()).path("access_token").asString();
  }

  private HttpResponse<String> send(String bearer, String to, JsonNode body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(
                URI.create(
                    "https://localhost:"
                        + simulators.hms().port()
                        + "/v1/"
                        + to
                        + "/messages:send"))
            .timeout(Duration.ofSeconds(60))
            .header("authorization", "Bearer " + bearer)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private String code(JsonNode body) throws Exception {
    return JSON.readTree(send(accessToken(), APP, body).body()).path("code").asString();
  }

  /// A data message to these tokens.
  private static ObjectNode to(List<String> tokens) {
    ObjectNode body = JSON.createObjectNode();
    ObjectNode message = body.putObject("message").put("data", "{}");
    ArrayNode array = message.putArray("token");
    tokens.forEach(array::add);
    message.putObject("android").put("ttl", "60s").put("urgency", "NORMAL").put("collapse_key", -1);
    return body;
  }

  private static ObjectNode with(String field, Object value) {
    ObjectNode body = to(List.of("t1"));
    body.withObject("message").withObject("android").putPOJO(field, value);
    return (ObjectNode) JSON.readTree(body.toString());
  }

  @Test
  void a_thousand_tokens_are_taken_and_one_more_is_not() throws Exception {
    assertThat(code(to(Collections.nCopies(1_000, "t1")))).isEqualTo("80000000");
    assertThat(simulators.ledger().entries("t1")).hasSize(1_000).allMatch(LedgerEntry::delivered);

    assertThat(code(to(Collections.nCopies(1_001, "t1")))).isEqualTo("80300010");
    assertThat(code(to(List.of()))).isEqualTo("80300010");
    assertThat(code(JSON.createObjectNode())).isEqualTo("80300010");
  }

  @Test
  void illegal_tokens_are_named_and_the_others_get_the_message() throws Exception {
    simulators.hmsDirectory().register("dead", new HmsToken("", true));
    simulators.hmsDirectory().register("foreign", new HmsToken("777", false));

    HttpResponse<String> some =
        send(accessToken(), APP, to(List.of("t1", "dead", "t2", "foreign", "not a token")));

    assertThat(some.statusCode()).isEqualTo(200);
    assertThat(JSON.readTree(some.body()).path("code").asString()).isEqualTo("80100000");
    JsonNode counts = JSON.readTree(JSON.readTree(some.body()).path("msg").asString());
    assertThat(counts.path("success").asInt()).isEqualTo(2);
    assertThat(counts.path("failure").asInt()).isEqualTo(3);
    assertThat(counts.path("illegal_tokens").valueStream().map(JsonNode::asString))
        .containsExactly("dead", "foreign", "not a token");
    assertThat(simulators.ledger().entries("t2")).singleElement().matches(LedgerEntry::delivered);
    assertThat(simulators.ledger().entries("dead"))
        .singleElement()
        .returns(false, LedgerEntry::delivered)
        .returns("80100000", LedgerEntry::reason);
    assertThat(code(to(List.of("dead", "foreign")))).isEqualTo("80300007");
  }

  @Test
  void an_access_token_lives_an_hour_and_opens_only_its_own_app() throws Exception {
    String bearer = accessToken();
    simulators.hmsDirectory().issue("20086", true);
    assertThat(send(bearer, APP, to(List.of("t1"))).statusCode()).isEqualTo(200);
    assertThat(send(bearer, "20086", to(List.of("t1"))).body()).contains("80200001");
    assertThat(send("nonsense", APP, to(List.of("t1"))).statusCode()).isEqualTo(401);

    clock.advance(Duration.ofSeconds(3_601));

    assertThat(send(bearer, APP, to(List.of("t1"))).body()).contains("80200003");
  }

  @Test
  void a_client_that_huawei_does_not_know_gets_no_access_token() throws Exception {
    assertThat(oauth(APP, "wrong").body()).contains("1101").contains("12304");
    assertThat(oauth("4711", app.secret()).statusCode()).isEqualTo(400);
    assertThat(oauth("letters", app.secret()).body()).contains("20002");
  }

  @Test
  void a_broken_rule_gets_its_code() throws Exception {
    assertThat(code(with("ttl", "PT1H"))).isEqualTo("80100001");
    assertThat(code(with("ttl", "1296001s"))).isEqualTo("80100001");
    assertThat(code(with("ttl", "0s"))).isEqualTo("80100004");
    assertThat(code(with("collapse_key", 101))).isEqualTo("80100013");
    assertThat(code(with("collapse_key", "order"))).isEqualTo("80100013");
    assertThat(code(with("urgency", "VERY"))).isEqualTo("80100001");
    assertThat(code(with("unknown", 1))).isEqualTo("80100003");
    ObjectNode object = to(List.of("t1"));
    object.withObject("message").putObject("data").put("k", "v");
    assertThat(code(object)).isEqualTo("80100003");
    ObjectNode large = to(List.of("t1"));
    large.withObject("message").put("data", "x".repeat(4_096));
    assertThat(code(large)).isEqualTo("80300008");
    ObjectNode unclickable = to(List.of("t1"));
    unclickable.withObject("message").putObject("notification").put("title", "a").put("body", "b");
    assertThat(code(unclickable)).isEqualTo("80100003");
  }

  @Test
  void high_urgency_needs_permission_and_validate_only_delivers_nothing() throws Exception {
    assertThat(code(with("urgency", "HIGH"))).isEqualTo("80000000");
    app = simulators.hmsDirectory().issue(APP, false);
    assertThat(code(with("urgency", "HIGH"))).isEqualTo("80300011");

    assertThat(code(to(List.of("t9")).put("validate_only", true))).isEqualTo("80000000");
    assertThat(simulators.ledger().entries("t9")).noneMatch(LedgerEntry::delivered);
  }

  @Test
  void flow_control_and_scripted_answers_follow_the_script() throws Exception {
    Scenario.parse("hms token t2 answer 500 81000001\nhms_oauth next 1 answer 503")
        .forEach(simulators.script()::add);
    assertThat(oauth(APP, app.secret()).statusCode()).isEqualTo(503);
    String bearer = accessToken();
    assertThat(send(bearer, APP, to(List.of("t1", "t2"))).body()).contains("81000001");
    simulators.script().clear();
    simulators.hms().limit(3);

    assertThat(send(bearer, APP, to(List.of("t1", "t2"))).statusCode()).isEqualTo(200);
    assertThat(send(bearer, APP, to(List.of("t1", "t2"))).statusCode()).isEqualTo(503);
    clock.advance(Duration.ofSeconds(1));
    assertThat(send(bearer, APP, to(List.of("t1", "t2"))).statusCode()).isEqualTo(200);
  }
}
