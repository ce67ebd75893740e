package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// What every operation has in common, whoever calls it in whatever way.
class ContractIT {
  private static final String HELLO =
      "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}";

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @BeforeEach
  void registerOneDevice() {
    shop.device("d1", "{\"mqtt\":true}");
  }

  private static void isProblem(Answer answer, int status, String code) {
    String all = answer.toString();
    assertThat(answer.status()).as(all).isEqualTo(status);
    assertThat(answer.header("Content-Type")).as(all).isEqualTo("application/problem+json");
    JsonNode problem = answer.json();
    assertThat(problem.get("code").stringValue()).as(all).isEqualTo(code);
    assertThat(problem.get("type").stringValue()).isEqualTo("/docs/problems#" + code);
    assertThat(problem.get("status").intValue()).isEqualTo(status);
    assertThat(problem.get("title").stringValue()).isNotEmpty();
    assertThat(problem.get("detail").stringValue()).isNotEmpty();
    assertThat(problem.get("request_id").stringValue())
        .as(all)
        .isNotEmpty()
        .isEqualTo(answer.header("X-Request-Id"));
    for (JsonNode error : problem.path("errors")) {
      assertThat(error.propertyNames()).containsExactly("pointer", "code", "detail");
      assertThat(error.get("code").stringValue()).isNotEmpty();
      assertThat(error.get("detail").stringValue()).isNotEmpty();
    }
    if (status == 429 || status == 503) {
      assertThat(Integer.parseInt(answer.header("Retry-After"))).isPositive();
    }
  }

  private static void pointsAt(Answer answer, String pointer, String code) {
    isProblem(answer, 422, "invalid_request");
    assertThat(answer.json().at("/errors/0/pointer").stringValue())
        .as(answer.toString())
        .isEqualTo(pointer);
    assertThat(answer.json().at("/errors/0/code").stringValue()).isEqualTo(code);
  }

  private Answer bare(String method, String path, String... headers) {
    return dispatcher.call(method, path, "", headers);
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /nothing, 404, not_found",
    "GET, /messages, 405, method_not_allowed",
    "POST, /messages/, 404, not_found",
    "GET, /devices/d1/, 404, not_found",
    "PUT, /messages/0192e0f0-0000-7000-8000-000000000001, 405, method_not_allowed",
    "GET, /messages:batch, 405, method_not_allowed",
    "GET, /messages:validate, 405, method_not_allowed",
    "GET, /messages/0192e0f0-0000-7000-8000-000000000001:cancel, 404, message_not_found",
    "GET, /devices, 405, method_not_allowed",
    "POST, /devices/d1, 405, method_not_allowed",
    "GET, /devices/d1/session, 405, method_not_allowed",
    "GET, /devices/d1/tags/a, 405, method_not_allowed",
    "POST, /devices/d1/topics/a, 405, method_not_allowed",
    "BREW, /messages, 405, method_not_allowed",
    "PUT, /devices/d1, 415, unsupported_media_type",
    "POST, /messages, 415, unsupported_media_type",
    "POST, /messages:batch, 415, unsupported_media_type",
    "POST, /messages:validate, 415, unsupported_media_type",
    "POST, /devices, 415, unsupported_media_type",
    "PATCH, /devices/d1, 415, unsupported_media_type",
    "GET, /devices/nobody, 404, device_not_found",
    "DELETE, /devices/nobody, 404, device_not_found",
    "PUT, /devices/nobody/session, 404, device_not_found",
    "PUT, /devices/nobody/topics/a, 404, device_not_found",
    "DELETE, /devices/nobody/tags/a, 404, device_not_found",
    "GET, /devices/nobody/deliveries, 404, device_not_found",
    "GET, /messages/nothing, 404, message_not_found",
    "GET, /messages/nothing/deliveries, 404, message_not_found",
    "POST, /messages/nothing:cancel, 404, message_not_found",
    "GET, /devices/d1%00, 400, malformed_request",
    "GET, /uplinks?limit=%FF%FE, 400, malformed_request",
    "GET, /devices/d1/deliveries?%C3=5, 400, malformed_request",
  })
  void every_refusal_is_a_problem_with_its_request_id(
      String method, String path, int status, String code) {
    Answer answer = shop.call(method, path, "");

    isProblem(answer, status, code);
    if (status == 405) {
      assertThat(answer.header("Allow")).isNotEmpty().doesNotContain(method);
    }
  }

  @Test
  void what_tomcat_refuses_is_a_problem_with_its_request_id_too() throws IOException {
    for (String request :
        List.of(
            "TRACE /docs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "GET /docs HTTP/1.1\r\nConnection: close\r\n\r\n",
            "GET /v1/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "GET /v1/%C3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "GET /v1/a|b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "rubbish\r\n\r\n")) {
      String answer = raw(request);

      assertThat(answer)
          .as(request)
          .startsWith("HTTP/1.1 40")
          .contains("application/problem+json", "X-Request-Id: ", "\"request_id\":", "\"code\":")
          .doesNotContain("<html");
    }
  }

  private String raw(String request) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", dispatcher.port())) {
      socket.setSoTimeout(60_000);
      OutputStream out = socket.getOutputStream();
      out.write(request.getBytes(StandardCharsets.US_ASCII));
      out.flush();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void allow_names_the_methods_that_work() {
    Answer message = shop.call("DELETE", "/messages/0192e0f0-0000-7000-8000-000000000001", "");
    Answer device = shop.call("POST", "/devices/d1", "");

    assertThat(message.header("Allow")).isEqualTo("GET, HEAD");
    assertThat(device.header("Allow")).isEqualTo("DELETE, GET, HEAD, PATCH, PUT");
    assertThat(shop.call("OPTIONS", "/messages", "").header("Allow")).contains("POST");
    assertThat(bare("OPTIONS", "/v1/apps/" + shop.app() + "/devices/d1").status()).isEqualTo(200);
  }

  @Test
  void head_is_get_without_the_body() {
    Answer get = shop.get("/devices/d1");
    Answer head = shop.call("HEAD", "/devices/d1", "");
    Answer nobody = shop.call("HEAD", "/devices/nobody", "");
    Answer stranger = bare("HEAD", "/v1/apps/" + shop.app() + "/devices/d1");

    assertThat(head.status()).isEqualTo(200);
    assertThat(head.http().body()).isEmpty();
    assertThat(head.header("Content-Type")).isEqualTo(get.header("Content-Type"));
    assertThat(head.header("X-Request-Id")).isNotEmpty();
    assertThat(nobody.status()).isEqualTo(404);
    assertThat(stranger.status()).isEqualTo(401);
  }

  @Test
  void an_id_in_a_path_may_be_percent_encoded_in_utf8_only() {
    assertThat(shop.get("/devices/%64%31").json().get("device").stringValue()).isEqualTo("d1");
    assertThat(shop.put("/devices/d1/tags/%EA%B0%80", "").status()).isEqualTo(204);
    for (String bytes : List.of("%FF", "%C3", "%ED%A0%80", "%C0%AF", "a%E0%80%AFb")) {
      isProblem(shop.put("/devices/d1/tags/" + bytes, ""), 400, "malformed_request");
    }

    assertThat(shop.get("/devices/d1").json().get("tags").toString()).isEqualTo("[\"가\"]");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "Application/JSON",
        "application/json; charset=\"utf-8\"; x=y"
      })
  void the_parameters_of_a_content_type_do_not_matter(String type) {
    Answer answer = shop.post("/messages", HELLO, "Content-Type", type);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    assertThat(answer.header("Content-Type")).isEqualTo("application/json");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"text/json", "application/vnd.api+json", "application/jsonx", "json", ";"})
  void another_content_type_is_refused(String type) {
    isProblem(shop.post("/messages", HELLO, "Content-Type", type), 415, "unsupported_media_type");
  }

  @Test
  void a_location_leads_to_what_was_made() {
    Answer message = shop.post("/messages", HELLO);
    Answer device = shop.post("/devices", "{\"platform\":\"iot\",\"device\":\"a.b_c:d-e\"}");
    Answer again = shop.put("/devices/a.b_c:d-e", "{\"platform\":\"iot\"}");

    assertThat(message.status()).isEqualTo(202);
    assertThat(device.status()).isEqualTo(201);
    assertThat(again.status()).isEqualTo(200);
    for (Answer made : List.of(message, device)) {
      assertThat(
              bare(
                      "GET",
                      made.header("Location"),
                      "Authorization",
                      "Bearer " + shop.key().text().reveal())
                  .status())
          .as(made.toString())
          .isEqualTo(200);
    }
  }

  @Test
  void a_cursor_belongs_to_its_list() {
    String id = shop.post("/messages", HELLO).json().get("id").stringValue();
    shop.device("d2", "{\"mqtt\":true}");
    String both = "{\"audience\":{\"devices\":[\"d1\",\"d2\"]},\"content\":{\"title\":\"hi\"}}";
    String toBoth = shop.post("/messages", both).json().get("id").stringValue();
    String ofMessage =
        shop.get("/messages/" + toBoth + "/deliveries?limit=1")
            .json()
            .get("next_cursor")
            .stringValue();

    assertThat(
            shop.get("/messages/" + toBoth + "/deliveries?limit=1&cursor=" + ofMessage)
                .json()
                .at("/data/0/device")
                .stringValue())
        .isEqualTo("d2");
    for (String list : List.of("/devices/d1/deliveries", "/live-activity-channels", "/uplinks")) {
      pointsAt(shop.get(list + "?cursor=" + ofMessage), "?cursor", "not_a_cursor");
    }
    for (String rubbish : List.of("7", "%20", "%00", "x", "bm90IGFuIGlk", "-1", "a,b")) {
      for (String list :
          List.of(
              "/messages/" + id + "/deliveries",
              "/devices/d1/deliveries",
              "/live-activity-channels")) {
        pointsAt(shop.get(list + "?cursor=" + rubbish), "?cursor", "not_a_cursor");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"0", "-1", "1001", "10001", "abc", "", "1e2", "1.0", "%2B5", "99999999999", "5,6"})
  void a_limit_is_a_number_from_1_to_1000(String limit) {
    String id = shop.post("/messages", HELLO).json().get("id").stringValue();
    for (String list :
        List.of(
            "/messages/" + id + "/deliveries",
            "/devices/d1/deliveries",
            "/live-activity-channels",
            "/uplinks")) {
      pointsAt(shop.get(list + "?limit=" + limit), "?limit", "out_of_range");
    }
    pointsAt(shop.get("/uplinks?limit=5&limit=6"), "?limit", "out_of_range");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{} | required",
        "{\"messages\":null} | required",
        "{\"messages\":{}} | not_a_list",
        "{\"messages\":\"hi\"} | not_a_list",
        "{\"messages\":[]} | empty"
      })
  void a_batch_without_messages_is_told_why(String body, String code) {
    pointsAt(shop.post("/messages:batch", body), "/messages", code);
  }

  @Test
  void a_batch_tells_of_one_bad_message_among_good_ones() {
    String messages =
        IntStream.range(0, 1_000)
            .mapToObj(i -> i == 500 ? "{\"audience\":{\"device\":\"d1\"}}" : HELLO)
            .collect(Collectors.joining(",", "{\"messages\":[", "]}"));

    Answer answer = shop.post("/messages:batch", messages);

    assertThat(answer.status()).isEqualTo(207);
    JsonNode results = answer.json().get("results");
    assertThat(results).hasSize(1_000);
    assertThat(results.valueStream().filter(one -> one.get("status").intValue() == 202))
        .hasSize(999);
    assertThat(results.at("/500/problem/errors/0/pointer").stringValue()).isEqualTo("/content");
    assertThat(results.at("/500/problem/request_id").stringValue())
        .isEqualTo(answer.header("X-Request-Id"));
    pointsAt(
        shop.post("/messages:batch", messages.replace("]}", "," + HELLO + "]}")),
        "/messages",
        "too_many");
  }

  @Test
  void an_idempotency_key_is_visible_ascii_of_at_most_255_characters() {
    for (String path : List.of("/messages", "/messages:batch", "/live-activity-channels")) {
      String body =
          switch (path) {
            case "/messages" -> HELLO;
            case "/messages:batch" -> "{\"messages\":[" + HELLO + "]}";
            default -> "{}";
          };
      for (String key : List.of("", "a b", "x".repeat(256))) {
        pointsAt(shop.post(path, body, "Idempotency-Key", key), "Idempotency-Key", "not_a_key");
      }
      String longest = "x".repeat(255);
      Answer first = shop.post(path, body, "Idempotency-Key", longest);
      Answer again = shop.post(path, body, "Idempotency-Key", longest);
      Answer other = shop.post(path, " " + body, "Idempotency-Key", longest);

      assertThat(first.status()).as(first.toString()).isEqualTo(202);
      assertThat(again.status()).isEqualTo(202);
      assertThat(again.http().body()).isEqualTo(first.http().body());
      assertThat(again.header("Idempotency-Replayed")).isEqualTo("true");
      assertThat(again.header("X-Request-Id")).isNotEqualTo(first.header("X-Request-Id"));
      isProblem(other, 422, "idempotency_key_reused");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}",
        "{\"audience\":{\"device\":\"nobody\"},\"content\":{\"title\":\"hi\"}}",
        "{\"audience\":{\"devices\":[\"d1\",\"nobody\"]},\"content\":{\"title\":\"hi\"}}",
        "{\"audience\":{\"user\":\"nobody\"},\"content\":{\"title\":\"hi\"}}",
        "{\"audience\":{\"channel\":\"channel-0192e0f0-0000-7000-8000-000000000001\"},\"live_activity\":{\"event\":\"update\",\"content_state\":{}}}",
        "{\"audience\":{\"location\":{}},\"content\":{\"title\":\"hi\"}}",
        "{\"audience\":{\"device\":\"d1\",\"all\":true},\"content\":{}}",
        "{\"audience\":[],\"content\":[],\"delivery\":[],\"overrides\":[]}",
        "{\"audience\":\"d1\",\"content\":\"hi\",\"delivery\":7,\"overrides\":true}",
        "{}",
        "[]",
        "null",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"},\"audience\":{\"device\":\"d1\"}}",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"\\udc00\"}}",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"},\"overrides\":{\"apns\":{\"a\":\"\\ud800x\"}}}",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"},\"overrides\":{\"apns\":{\"badge\":1e400}}}",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"},\"overrides\":{\"fcm\":{\"a\":[[{\"b\":-1e999999999}]]}}}",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":1e400},\"delivery\":{\"ttl\":1e400}}",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"},\"delivery\":{\"ttl\":\"P999999999999999999D\"}}",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"},\"delivery\":{\"route\":null,\"ttl\":null}}",
      })
  void validating_gives_the_answer_of_sending(String body) {
    isCheckedAsSent(body);
  }

  /// What each vendor's overrides are held to, and the size that they give a message.
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"apns\":{\"sound\":\"a\"},\"fcm\":{\"data\":{\"a\":\"b\"}},\"hms\":{\"a\":1},\"webpush\":{\"icon\":\"a\"} | 202",
        "\"mqtt\":{\"a\":1} | 422",
        "\"apns\":[],\"fcm\":\"a\",\"hms\":1,\"webpush\":true | 422",
        "\"fcm\":{\"token\":\"a\",\"fid\":null,\"topic\":\"a\",\"condition\":\"a\"} | 422",
        "\"hms\":{\"token\":[\"a\"],\"topic\":\"a\",\"condition\":null} | 422",
        "\"fcm\":{\"data\":{\"a\":1,\"google.x\":\"b\",\"from\":\"c\"}} | 422",
        "\"hms\":{\"a\":\"\\ud800\"},\"webpush\":{\"a\":1e400} | 422",
        "\"apns\":{\"a\":\"LONG\"} | 413",
        "\"fcm\":{\"a\":\"LONG\"} | 413",
        "\"hms\":{\"a\":\"LONG\"} | 413",
        "\"webpush\":{\"a\":\"LONG\"} | 413",
        "\"apns\":{\"a\":\"LONG\"},\"fcm\":{\"a\":\"LONG\"},\"hms\":{\"a\":\"LONG\"},\"webpush\":{\"a\":\"LONG\"} | 413",
      })
  void validating_holds_overrides_to_what_sending_does(String overrides, int status) {
    String given = "\"overrides\":{" + overrides.replace("LONG", "x".repeat(4_096)) + "}}";
    String message = HELLO.substring(0, HELLO.length() - 1) + ",";

    assertThat(isCheckedAsSent(message + given).status()).isEqualTo(status);
    isCheckedAsSent(message + "\"delivery\":{\"route\":\"mqtt\"}," + given);
    isCheckedAsSent(message.replace("{\"device\":\"d1\"}", "{\"fcm_topic\":\"news\"}") + given);
    isCheckedAsSent(
        message
            + "\"live_activity\":{\"event\":\"update\",\"token\":\"abababab\",\"content_state\":{}},"
            + given);
  }

  /// Only the devices say that a message is for no other channel.
  @Test
  void validating_measures_the_only_channel_of_the_devices() {
    shop.device("huawei", "{\"hms\":{\"token\":\"" + UUID.randomUUID() + "\"}}");
    String message =
        "{\"audience\":{\"device\":\"huawei\"},\"content\":{\"body\":\"%s\"}}"
            .formatted("x".repeat(3_000));

    Answer sent = isCheckedAsSent(message);

    assertThat(sent.json().at("/errors/0/code").asString()).isEqualTo("too_large_for_hms");
  }

  /// @return the answer of sending
  private Answer isCheckedAsSent(String body) {
    Answer sent = shop.post("/messages", body);
    Answer checked = shop.post("/messages:validate", body);

    if (sent.status() == 202) {
      assertThat(checked.status()).as(checked.toString()).isEqualTo(200);
      assertThat(checked.json().get("recipients")).isEqualTo(sent.json().get("recipients"));
      return sent;
    }
    isProblem(sent, sent.status(), sent.json().get("code").stringValue());
    assertThat(checked.status()).as(checked + " " + sent).isEqualTo(sent.status());
    for (String field : List.of("code", "detail", "title", "type")) {
      assertThat(checked.json().get(field)).isEqualTo(sent.json().get(field));
    }
    assertThat(checked.json().path("errors")).isEqualTo(sent.json().path("errors"));
    return sent;
  }

  /// A provider would get it as the text "Infinity".
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"overrides\":{\"apns\":{\"aps\":{\"badge\":1e400}}} | /overrides/apns | out_of_range",
        "\"overrides\":{\"fcm\":{\"x\":[1,-1e400]}} | /overrides/fcm | out_of_range",
        "\"overrides\":{\"webpush\":{\"x\":\"\\ud800\"}} | /overrides/webpush | not_unicode",
        "\"live_activity\":{\"event\":\"update\",\"token\":\"00112233445566778899aabbccddeeff\",\"content_state\":{\"n\":1e309}} | /live_activity/content_state | out_of_range",
      })
  void what_is_passed_on_to_a_provider_can_be_read_there(
      String field, String pointer, String code) {
    pointsAt(
        shop.post("/messages", HELLO.substring(0, HELLO.length() - 1) + "," + field + "}"),
        pointer,
        code);
  }

  @Test
  void large_but_real_numbers_reach_a_provider_as_they_are() {
    shop.device("phone", "{\"fcm\":{\"token\":\"" + UUID.randomUUID() + "\"}}");
    dispatcher.drain("push.fcm.high");

    Answer answer =
        shop.post(
            "/messages",
            "{\"audience\":{\"device\":\"phone\"},\"content\":{\"title\":\"hi\"},\"overrides\":{\"fcm\":{\"x\":[1e308,12345678901234567890123456789,-0.5,0]}}}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    assertThat(dispatcher.drain("push.fcm.high"))
        .singleElement()
        .satisfies(push ->
            assertThat(push.at("/overrides/fcm/x").toString())
                .isEqualTo("[1.0E308,12345678901234567890123456789,-0.5,0]"));
  }

  @ParameterizedTest
  @ValueSource(ints = {33, 500, 100_000})
  void json_that_nests_too_deep_is_refused(int depth) {
    String deep = "[".repeat(depth);

    isProblem(shop.post("/messages", "{\"content\":" + deep), 400, "malformed_json");
    isProblem(shop.post("/messages:batch", "{\"messages\":" + deep), 400, "malformed_json");
  }

  @Test
  void a_body_has_a_length_in_every_operation() {
    String body = "{\"platform\":\"iot\"" + " ".repeat(65_536) + "}";

    isProblem(shop.post("/devices", body), 413, "body_too_large");
    isProblem(shop.put("/devices/d1", body), 413, "body_too_large");
    isProblem(shop.call("PATCH", "/devices/d1", body), 413, "body_too_large");
    isProblem(shop.put("/devices/d1/session", body), 413, "body_too_large");
    isProblem(shop.post("/live-activity-channels", body), 413, "body_too_large");
    isProblem(
        dispatcher.call(
            "POST",
            "/v1/apps/" + shop.app() + "/devices",
            body,
            "Content-Type",
            "application/json"),
        401,
        "api_key_missing");
  }

  @Test
  void a_limited_app_is_told_what_is_left_and_when_to_come_back() {
    RunningDispatcher strict =
        RunningDispatcher.with(Map.of("dispatcher.messages-per-second", "1"));
    Tenant limited = strict.tenant();
    limited.device("d1", "{\"mqtt\":true}");
    String batch =
        IntStream.range(0, 1_000)
            .mapToObj(i -> HELLO)
            .collect(Collectors.joining(",", "{\"messages\":[", "]}"));

    Answer taken = limited.post("/messages:batch", batch);
    Answer refused = limited.post("/messages", HELLO);

    assertThat(taken.status()).as(taken.toString()).isEqualTo(202);
    assertThat(taken.header("RateLimit-Policy")).isEqualTo("\"messages\";q=1;w=1");
    assertThat(taken.header("RateLimit")).startsWith("\"messages\";r=0;t=");
    isProblem(refused, 429, "rate_limited");
    assertThat(refused.header("RateLimit-Policy")).isEqualTo("\"messages\";q=1;w=1");
    assertThat(refused.header("RateLimit"))
        .isEqualTo("\"messages\";r=0;t=" + refused.header("Retry-After"));
    // A limit of messages is none of reading, checking or registering.
    assertThat(limited.post("/messages:validate", HELLO).status()).isEqualTo(200);
    assertThat(limited.get("/devices/d1").status()).isEqualTo(200);
  }

  /// A caller that lost the answer asks for it again. Its message was counted.
  @Test
  void a_repeat_does_not_count_and_is_not_refused_for_the_limit() {
    RunningDispatcher strict =
        RunningDispatcher.with(Map.of("dispatcher.messages-per-second", "2"));
    Map<String, String> bodies =
        Map.of("/messages", HELLO, "/messages:batch", "{\"messages\":[" + HELLO + "]}");
    bodies.forEach((path, body) -> {
      Tenant limited = strict.tenant();
      limited.device("d1", "{\"mqtt\":true}");

      Answer first = limited.post(path, body, "Idempotency-Key", "k");
      Answer again = limited.post(path, body, "Idempotency-Key", "k");
      Answer refused =
          Stream.generate(() -> limited.post(path, body))
              .limit(100)
              .filter(answer -> answer.status() == 429)
              .findFirst()
              .orElseThrow();
      Answer late = limited.post(path, body, "Idempotency-Key", "k");

      assertThat(first.status()).as(first.toString()).isEqualTo(202);
      assertThat(first.header("RateLimit")).startsWith("\"messages\";r=1;");
      assertThat(again.header("Idempotency-Replayed")).isEqualTo("true");
      assertThat(again.header("RateLimit")).matches("\"messages\";r=[12];t=.*");
      isProblem(refused, 429, "rate_limited");
      assertThat(late.status()).as(late.toString()).isEqualTo(202);
      assertThat(late.http().body()).isEqualTo(first.http().body());
      assertThat(late.header("Idempotency-Replayed")).isEqualTo("true");
    });
  }
}
