package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Every faulty request gets a clear answer in the same form, and sends nothing.
class BadInputIT {
  private static final String HELLO =
      "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}";

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @BeforeEach
  void registerOneDevice() {
    shop.device("d1", "{\"mqtt\":true}");
  }

  private static void isProblem(Answer answer, int status, String code) {
    assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
    assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
    assertThat(answer.json().get("status").intValue()).isEqualTo(status);
    assertThat(answer.json().get("code").stringValue()).isEqualTo(code);
    assertThat(answer.json().get("type").stringValue()).isEqualTo("/docs/problems#" + code);
    assertThat(answer.json().get("title").stringValue()).isNotEmpty();
    assertThat(answer.json().get("request_id").stringValue())
        .isEqualTo(answer.header("X-Request-Id"));
    assertThat(answer.http().body()).doesNotContain("Exception", "\tat ");
  }

  @Test
  void without_a_key_it_is_401_and_says_how() {
    Answer answer = dispatcher.call("POST", "/v1/apps/" + shop.app() + "/messages", HELLO);

    isProblem(answer, 401, "api_key_missing");
    assertThat(answer.header("WWW-Authenticate")).startsWith("Bearer");
  }

  @Test
  void a_key_that_is_no_key_is_401() {
    Answer answer =
        dispatcher.call(
            "POST", "/v1/apps/" + shop.app() + "/messages", HELLO, "Authorization", "Bearer nope");

    isProblem(answer, 401, "api_key_invalid");
    assertThat(answer.header("WWW-Authenticate")).contains("invalid_token");
  }

  @Test
  void an_unknown_app_and_a_foreign_app_look_the_same() {
    Tenant other = dispatcher.tenant();
    String authorization = "Bearer " + shop.key().text().reveal();

    Answer foreign =
        dispatcher.call(
            "GET", "/v1/apps/" + other.app() + "/devices/d1", "", "Authorization", authorization);
    Answer unknown =
        dispatcher.call("GET", "/v1/apps/nobody/devices/d1", "", "Authorization", authorization);

    isProblem(foreign, 404, "app_not_found");
    isProblem(unknown, 404, "app_not_found");
    assertThat(foreign.json().get("detail")).isEqualTo(unknown.json().get("detail"));
  }

  @Test
  void a_key_without_the_scope_is_403() {
    Tenant reader = dispatcher.tenant("read");

    isProblem(reader.post("/messages", HELLO), 403, "scope_missing");
    isProblem(reader.post("/devices", "{}"), 403, "scope_missing");
    assertThat(reader.post("/messages", HELLO).header("WWW-Authenticate"))
        .contains("insufficient_scope");
  }

  @Test
  void a_rotated_key_stops_working_within_a_second() {
    assertThat(shop.post("/messages", HELLO).status()).isEqualTo(202);

    dispatcher.revoke(shop.app(), shop.key());
    int looks = dispatcher.sql.looks();

    // The next poll of the change feed finds the change, and its end is visible at the poll after
    // it. How long this machine takes for a poll does not matter here.
    Eventually.within(
        Duration.ofSeconds(60), () -> assertThat(dispatcher.sql.looks()).isGreaterThan(looks + 1));
    isProblem(shop.post("/messages", HELLO), 401, "api_key_invalid");
    assertThat(ChangeFeed.PERIOD.multipliedBy(2)).isLessThan(Duration.ofSeconds(1));
  }

  @Test
  void a_key_that_a_failover_of_mysql_has_lost_stops_working() {
    Tenant lost = dispatcher.tenant();
    assertThat(lost.get("/devices/d1").status()).isEqualTo(404);
    dispatcher.inDatabase(connection ->
        ChangeFeed.record(connection, Clock.systemUTC(), Change.Kind.APP, new AppId("any"), "any"));
    int looks = dispatcher.sql.looks();
    Eventually.within(
        Duration.ofSeconds(60), () -> assertThat(dispatcher.sql.looks()).isGreaterThan(looks + 1));

    dispatcher.inDatabase(connection -> {
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate("DELETE FROM api_keys WHERE id = '" + lost.key().id() + "'");
        statement.executeUpdate("DELETE FROM changes");
      }
    });

    Eventually.within(
        Duration.ofSeconds(60), () -> isProblem(lost.get("/devices/d1"), 401, "api_key_invalid"));
  }

  @Test
  void a_foreign_device_is_unknown_here() {
    Tenant other = dispatcher.tenant();

    isProblem(other.post("/messages", HELLO), 404, "device_not_found");
    isProblem(other.get("/devices/d1"), 404, "device_not_found");
    isProblem(other.get("/devices/d1/deliveries"), 404, "device_not_found");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ | malformed_json",
        "[] | malformed_json",
        "{\"audience\":{},\"audience\":{}} | malformed_json",
        "{} x | malformed_json",
        "nul | malformed_json",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"data\":{\"\\ud800\":\"x\"}}} | malformed_json",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"data\":{\"a\":\"1\",\"\\u0061\":\"2\"}}} | malformed_json",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"data\":{\"a\":\"\\u12\"}}} | malformed_json",
      })
  void a_body_that_is_not_json_gets_a_400(String body, String code) {
    isProblem(shop.post("/messages", body), 400, code);
  }

  @Test
  void an_empty_body_is_400() {
    Answer answer = shop.call("POST", "/messages", "", "Content-Type", "application/json");

    isProblem(answer, 400, "malformed_json");
    assertThat(answer.json().get("detail").stringValue()).isEqualTo("The body is empty.");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"content\":{\"title\":\"a\"}} | /audience | required",
        "{\"audience\":{},\"content\":{\"title\":\"a\"}} | /audience | required",
        "{\"audience\":{\"device\":\"d1\",\"user\":\"u\"},\"content\":{\"title\":\"a\"}} | /audience | ambiguous",
        "{\"audience\":{\"device\":\"d 1\"},\"content\":{\"title\":\"a\"}} | /audience/device | not_a_device_id",
        "{\"audience\":{\"devices\":[\"a\",\"a\",\"b c\"]},\"content\":{\"title\":\"a\"}} | /audience/devices/2 | not_a_device_id",
        "{\"audience\":{\"devices\":[7,\"b c\"]},\"content\":{\"title\":\"a\"}} | /audience/devices/1 | not_a_device_id",
        "{\"audience\":{\"devices\":[]},\"content\":{\"title\":\"a\"}} | /audience/devices | empty",
        "{\"audience\":{\"all\":false},\"content\":{\"title\":\"a\"}} | /audience/all | unknown_value",
        "{\"audience\":{\"device\":\"d1\"}} | /content | required",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{}} | /content | empty",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":7}} | /content/title | not_a_string",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"titel\":\"a\",\"body\":\"b\"}} | /content/titel | unknown_field",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"data\":{\"a/b\":7}}} | /content/data/a~1b | not_a_string",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"data\":{\"from\":\"x\"}}} | /content/data/from | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"data\":{\"google.x\":\"x\"}}} | /content/data/google.x | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"data\":{\"gcm.y\":\"x\"}}} | /content/data/gcm.y | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"data\":{\"aps\":\"x\"}}} | /content/data/aps | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"overrides\":{\"fcm\":{\"data\":{\"from\":\"x\"}}}} | /overrides/fcm/data/from | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"overrides\":{\"fcm\":{\"data\":{\"n\":1}}}} | /overrides/fcm/data/n | not_a_string",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"\\ud800\"}} | /content/title | not_unicode",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"ttl\":\"-PT5S\"}} | /delivery/ttl | negative",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"ttl\":\"5 hours\"}} | /delivery/ttl | not_a_duration",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"ttl\":\"P29D\"}} | /delivery/ttl | too_long",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"ttl\":\"P5W\"}} | /delivery/ttl | too_long",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"ttl\":\"P1M\"}} | /delivery/ttl | not_a_duration",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"fallback_after\":\"PT10M1S\"}} | /delivery/fallback_after | too_long",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"route\":\"pigeon\"}} | /delivery/route | unknown_value",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"collapse_key\":\"가가가가가가가가가가가가가가가가가가가가가가\"}} | /delivery/collapse_key | too_long",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"collapse_key\":\"order \"}} | /delivery/collapse_key | ends_in_blank",
        "{\"audience\":{\"user\":\"u1 \"},\"content\":{\"title\":\"a\"}} | /audience/user | ends_in_blank",
        "{\"audience\":{\"users\":[\"u1\",\"u2 \"]},\"content\":{\"title\":\"a\"}} | /audience/users/1 | ends_in_blank",
        "{\"audience\":{\"tag\":\"vip \"},\"content\":{\"title\":\"a\"}} | /audience/tag | ends_in_blank",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"overrides\":{\"fcm\":{\"token\":\"x\"}}} | /overrides/fcm/token | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"overrides\":{\"fcm\":{\"topic\":\"x\"}}} | /overrides/fcm/topic | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"overrides\":{\"fcm\":{\"condition\":\"x\"}}} | /overrides/fcm/condition | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"overrides\":{\"fcm\":{\"condition\":null}}} | /overrides/fcm/condition | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"overrides\":{\"hms\":{\"token\":\"x\"}}} | /overrides/hms/token | reserved_key",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"sound\":\"x\"} | /sound | unknown_field",
      })
  void a_wrong_message_is_told_where_and_why(String body, String pointer, String code) {
    Answer answer = shop.post("/messages", body);

    isProblem(answer, 422, "invalid_request");
    assertThat(answer.json().get("errors"))
        .anySatisfy(error -> {
          assertThat(error.get("pointer").stringValue()).isEqualTo(pointer);
          assertThat(error.get("code").stringValue()).isEqualTo(code);
          assertThat(error.get("detail").stringValue()).isNotEmpty();
        });
    isProblem(shop.post("/messages:validate", body), 422, "invalid_request");
  }

  @Test
  void a_reserved_key_says_whose_it_is_and_breaks_nothing_over_mqtt() {
    String both = "\"content\":{\"data\":{\"aps\":\"x\",\"from\":\"y\"}}";
    String device = "{\"audience\":{\"device\":\"d1\"},";

    Answer vendors = shop.post("/messages:validate", device + both + "}");
    Answer mqtt =
        shop.post("/messages:validate", device + both + ",\"delivery\":{\"route\":\"mqtt\"}}");

    assertThat(vendors.json().at("/errors/0/detail").stringValue()).contains("APNs");
    assertThat(vendors.json().at("/errors/1/detail").stringValue()).contains("FCM");
    assertThat(mqtt.status()).as(mqtt.toString()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"delivery\":{\"send_at\":\"2030-01-01T00:00:00Z\"} | /delivery/send_at",
        "\"delivery\":{\"scheduled_at\":1,\"ttl\":\"PT1H\"} | /delivery/scheduled_at",
        "\"send_at\":\"2030-01-01T00:00:00Z\" | /send_at",
        "\"schedule\":{\"at\":\"09:00\",\"zone\":\"device\"} | /schedule",
      })
  void a_time_to_send_at_is_told_that_there_is_none_yet(String field, String pointer) {
    Answer answer =
        shop.post("/messages", HELLO.substring(0, HELLO.length() - 1) + "," + field + "}");

    isProblem(answer, 422, "invalid_request");
    assertThat(answer.json().get("errors")).hasSize(1);
    assertThat(answer.json().at("/errors/0/pointer").stringValue()).isEqualTo(pointer);
    assertThat(answer.json().at("/errors/0/code").stringValue())
        .isEqualTo("scheduling_not_supported");
    assertThat(answer.json().at("/errors/0/detail").stringValue()).contains("not supported yet");
  }

  @Test
  void features_that_are_not_supported_yet_are_not_listed_as_known() {
    Answer answer =
        shop.post(
            "/messages",
            "{\"audience\":{\"segment\":\"a\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"send_at\":1,\"tll\":1}}");

    isProblem(answer, 422, "invalid_request");
    assertThat(answer.json().get("errors"))
        .filteredOn(error -> error.get("code").stringValue().equals("unknown_field"))
        .hasSize(2)
        .allSatisfy(error ->
            assertThat(error.get("detail").stringValue()).doesNotContain("location", "send_at"));
  }

  @Test
  void an_audience_that_comes_later_is_called_so() {
    Answer answer =
        shop.post("/messages", "{\"audience\":{\"location\":{}},\"content\":{\"title\":\"a\"}}");

    isProblem(answer, 422, "audience_not_supported");
    assertThat(answer.json().get("detail").stringValue()).contains("devices, user");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{\"and\":[]}; /audience/and; empty",
        "{\"or\":{}}; /audience/or; not_a_list",
        "{\"or\":[1]}; /audience/or/0; not_an_object",
        "{\"not\":[]}; /audience/not; not_an_object",
        "{\"and\":[{\"tag\":\"a\"},{}]}; /audience/and/1; required",
        "{\"and\":[{\"tag\":\"a\",\"topic\":\"b\"}]}; /audience/and/0; ambiguous",
        "{\"not\":{\"tag\":\"\"}}; /audience/not/tag; empty",
        "{\"not\":{\"not\":{\"not\":{\"not\":{\"not\":{\"all\":true}}}}}}; /audience/not/not/not/not/not; too_deep"
      })
  void an_audience_of_others_is_checked_in_every_part(
      String audience, String pointer, String code) {
    Answer answer =
        shop.post("/messages", "{\"audience\":" + audience + ",\"content\":{\"title\":\"a\"}}");

    isProblem(answer, 422, "invalid_request");
    assertThat(answer.json().get("errors"))
        .anySatisfy(error -> {
          assertThat(error.get("pointer").stringValue()).isEqualTo(pointer);
          assertThat(error.get("code").stringValue()).isEqualTo(code);
        });
  }

  @Test
  void an_audience_has_at_most_32_parts() {
    String parts =
        IntStream.range(0, 33)
            .mapToObj(i -> "{\"tag\":\"t" + i + "\"}")
            .collect(Collectors.joining(","));

    isProblem(
        shop.post(
            "/messages", "{\"audience\":{\"or\":[" + parts + "]},\"content\":{\"title\":\"a\"}}"),
        422,
        "invalid_request");
  }

  @Test
  void more_than_a_thousand_devices_are_too_many() {
    String devices =
        IntStream.range(0, 1_001)
            .mapToObj(i -> "\"d" + i + "\"")
            .collect(Collectors.joining(",", "[", "]"));

    Answer answer =
        shop.post(
            "/messages",
            "{\"audience\":{\"devices\":" + devices + "},\"content\":{\"title\":\"a\"}}");

    isProblem(answer, 422, "invalid_request");
    assertThat(answer.json().at("/errors/0/pointer").stringValue()).isEqualTo("/audience/devices");
    assertThat(answer.json().at("/errors/0/code").stringValue()).isEqualTo("too_many");
  }

  @Test
  void five_kilobytes_are_too_many_for_each_provider_and_it_says_by_how_much() {
    Answer answer =
        shop.post(
            "/messages",
            "{\"audience\":{\"device\":\"d1\"},\"content\":{\"body\":\""
                + "x".repeat(5_120)
                + "\"}}");

    isProblem(answer, 413, "payload_too_large");
    assertThat(answer.json().get("errors")).hasSize(3);
    assertThat(answer.json().at("/errors/0/detail").stringValue())
        .matches(
            "APNs takes 4096 bytes; this message needs \\d+, which is 1\\d\\d\\d bytes too many");
  }

  @Test
  void a_hundred_kilobytes_are_too_many_as_five_are() {
    Answer answer =
        shop.post(
            "/messages",
            "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\""
                + "x".repeat(100_000)
                + "\"}}");

    isProblem(answer, 413, "payload_too_large");
  }

  @Test
  void a_huge_upload_is_refused_without_being_kept() {
    HttpRequest.BodyPublisher fiftyMegabytes =
        HttpRequest.BodyPublishers.ofInputStream(() -> new EndlessInput(50L * 1024 * 1024));

    Answer answer =
        dispatcher.call(
            "POST",
            "/v1/apps/" + shop.app() + "/messages",
            fiftyMegabytes,
            "Authorization",
            "Bearer " + shop.key().text().reveal(),
            "Content-Type",
            "application/json");

    isProblem(answer, 413, "body_too_large");
  }

  private static final class EndlessInput extends InputStream {
    private long left;

    EndlessInput(long bytes) {
      this.left = bytes;
    }

    @Override
    public int read() {
      return left-- > 0 ? ' ' : -1;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) {
      if (left <= 0) {
        return -1;
      }
      int some = (int) Math.min(left, length);
      java.util.Arrays.fill(buffer, offset, offset + some, (byte) ' ');
      left -= some;
      return some;
    }
  }

  @Test
  void only_json_is_taken() {
    isProblem(
        shop.call("POST", "/messages", HELLO, "X-Other", "1", "Content-Type", "text/plain"),
        415,
        "unsupported_media_type");
    isProblem(
        dispatcher.call(
            "POST",
            "/v1/apps/" + shop.app() + "/messages",
            "a=b",
            "Authorization",
            "Bearer " + shop.key().text().reveal(),
            "Content-Type",
            "application/x-www-form-urlencoded"),
        415,
        "unsupported_media_type");
  }

  @Test
  void another_scheme_than_bearer_is_called_so() {
    Answer answer =
        dispatcher.call(
            "GET",
            "/v1/apps/" + shop.app() + "/devices/d1",
            "",
            "Authorization",
            "Basic dXNlcjpwYXNz");

    isProblem(answer, 401, "api_key_missing");
    assertThat(answer.json().get("detail").stringValue()).contains("Bearer");
    assertThat(answer.header("WWW-Authenticate")).startsWith("Bearer");
  }

  @Test
  void a_header_in_which_the_key_is_missing_is_called_so() {
    for (String header : List.of("Bearer", "bearer ")) {
      Answer answer =
          dispatcher.call(
              "GET", "/v1/apps/" + shop.app() + "/devices/d1", "", "Authorization", header);

      isProblem(answer, 401, "api_key_missing");
      assertThat(answer.json().get("detail").stringValue())
          .isEqualTo("There is no key after Bearer: send Authorization: Bearer <api key>.");
    }
  }

  @Test
  void a_packed_body_is_not_taken_for_a_plain_one() {
    Answer answer = shop.post("/messages", HELLO, "Content-Encoding", "gzip");

    isProblem(answer, 415, "unsupported_media_type");
    assertThat(answer.json().get("detail").stringValue()).contains("Content-Encoding", "gzip");
    assertThat(answer.header("Accept-Encoding")).isEqualTo("identity");
    assertThat(shop.post("/messages", HELLO, "Content-Encoding", "identity").status())
        .isEqualTo(202);
  }

  @Test
  void whatever_is_accepted_the_answer_is_json() {
    assertThat(shop.call("GET", "/devices/d1", "", "Accept", "application/xml").status())
        .isEqualTo(200);
    isProblem(
        shop.call("GET", "/devices/d2", "", "Accept", "application/xml"), 404, "device_not_found");
  }

  @Test
  void an_unknown_path_is_404_and_a_wrong_method_405() {
    isProblem(dispatcher.call("GET", "/v1/nothing", ""), 404, "not_found");
    Answer start = dispatcher.call("GET", "/", "");
    isProblem(start, 404, "not_found");
    assertThat(start.json().get("detail").stringValue()).contains("/docs", "/openapi.json");
    Answer wrong = shop.call("DELETE", "/messages", "");
    isProblem(wrong, 405, "method_not_allowed");
    assertThat(wrong.header("Allow")).contains("POST");
    assertThat(wrong.json().get("detail").stringValue())
        .isEqualTo("DELETE is not allowed here; allowed: POST.");
  }

  /// Any caller may use them, without a key and as often as it likes.
  @Test
  void an_unknown_path_logs_no_warning() {
    try (LogLines log = new LogLines("org.springframework.web.servlet.PageNotFound")) {
      isProblem(dispatcher.call("GET", "/wp-login.php", ""), 404, "not_found");

      assertThat(log.said()).isEmpty();
    }
  }

  @Test
  void a_duration_that_is_a_number_is_told_how_to_write_one() {
    Answer answer =
        shop.post(
            "/messages",
            "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"a\"},\"delivery\":{\"ttl\":3600}}");

    isProblem(answer, 422, "invalid_request");
    assertThat(answer.json().get("errors").get(0).get("code").stringValue())
        .isEqualTo("not_a_string");
    assertThat(answer.json().get("errors").get(0).get("detail").stringValue())
        .isEqualTo("ttl is a string with an ISO 8601 duration, such as \"PT6H\" or \"P1D\"");
  }

  @Test
  void requests_that_tomcat_refuses_get_a_problem_document() throws IOException {
    String answer = raw("GET /v1/apps/\u0001 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

    assertThat(answer).startsWith("HTTP/1.1 400").contains("application/problem+json");
    assertThat(answer).contains("\"code\":\"malformed_request\"").doesNotContain("<html");
  }

  @Test
  void headers_that_are_too_long_are_told_their_limit() throws IOException {
    String answer =
        raw("GET /docs HTTP/1.1\r\nHost: x\r\nX-Long: " + "x".repeat(9_000) + "\r\n\r\n");

    assertThat(answer)
        .startsWith("HTTP/1.1 400")
        .contains("\"code\":\"malformed_request\"", "8192 bytes");
  }

  /// Tomcat answers 501 and 505. The caller gets a 400 for both, because the server has no fault.
  @Test
  void unknown_methods_and_versions_of_http_are_the_callers_fault() throws IOException {
    for (String request :
        List.of(
            "GET /docs HTTP/3.7\r\nHost: x\r\nConnection: close\r\n\r\n",
            head(shop) + "Connection: close\r\nTransfer-Encoding: mist\r\n\r\n")) {
      String answer = raw(request);

      assertThat(answer).startsWith("HTTP/1.1 400").contains("application/problem+json");
      assertThat(answer).contains("\"status\":400", "\"code\":\"malformed_request\"");
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

  /// The head of a request with a message, without the header that gives the length of its body.
  private static String head(Tenant tenant) {
    return "POST /v1/apps/"
        + tenant.app()
        + "/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer "
        + tenant.key().text().reveal()
        + "\r\n";
  }

  @Test
  void half_a_body_is_nothing() throws IOException {
    String head = head(shop);
    dispatcher.drain("push.mqtt.high");

    for (String rest :
        List.of(
            "Content-Length: " + (HELLO.length() + 1) + "\r\n\r\n" + HELLO,
            "Transfer-Encoding: chunked\r\n\r\n"
                + Integer.toHexString(HELLO.length())
                + "\r\n"
                + HELLO
                + "\r\n",
            "Transfer-Encoding: chunked\r\n\r\nrubbish\r\n" + HELLO + "\r\n")) {
      String answer = rawHalf(head + rest);

      assertThat(answer).as(rest).doesNotContain("HTTP/1.1 2");
      if (!answer.isEmpty()) {
        assertThat(answer).startsWith("HTTP/1.1 400").contains("application/problem+json");
      }
    }
    assertThat(dispatcher.drain("push.mqtt.high")).isEmpty();
  }

  /// Slow callers and callers that stand still get an answer, and the server need not wait for
  /// them.
  @Test
  void a_body_that_does_not_come_in_time_is_408() throws Exception {
    RunningDispatcher strict =
        RunningDispatcher.with(
            Map.of("dispatcher.body-within", "2s", "server.tomcat.connection-timeout", "3s"));
    String head = head(strict.tenant()) + "Content-Length: ";

    assertThat(slowly(strict, head + "100\r\n\r\n{", 0))
        .startsWith("HTTP/1.1 408")
        .contains("Connection: close", "\"code\":\"body_too_slow\"")
        .contains("3.0 s", "Send the whole body at once");
    assertThat(slowly(strict, head + "50000\r\n\r\n{", 20))
        .startsWith("HTTP/1.1 408")
        .contains("Connection: close", "\"code\":\"body_too_slow\"")
        .contains("2.0 s", "Send the whole body at once");
  }

  /// Sends this many spaces, one every 200 ms.
  private static String slowly(RunningDispatcher dispatcher, String request, int spaces)
      throws IOException, InterruptedException {
    try (Socket socket = new Socket("127.0.0.1", dispatcher.port())) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      for (int i = 0; i < spaces; i++) {
        TimeUnit.MILLISECONDS.sleep(200);
        socket.getOutputStream().write(' ');
      }
      return new String(socket.getInputStream().readNBytes(1_000), StandardCharsets.UTF_8);
    }
  }

  private String rawHalf(String request) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", dispatcher.port())) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      socket.shutdownOutput();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void a_topic_or_tag_that_cannot_be_is_not_taken_away_either() {
    shop.put("/devices/d1/tags/vip", "");

    isProblem(shop.call("DELETE", "/devices/d1/topics/%C3%BC", ""), 422, "invalid_request");
    isProblem(shop.call("DELETE", "/devices/d1/tags/vip%20", ""), 422, "invalid_request");

    assertThat(shop.get("/devices/d1").json().at("/tags/0").stringValue()).isEqualTo("vip");
  }

  @Test
  void a_sane_request_id_is_kept_and_another_replaced() {
    assertThat(shop.call("GET", "/devices/d1", "", "X-Request-Id", "abc-1").header("X-Request-Id"))
        .isEqualTo("abc-1");
    assertThat(shop.call("GET", "/devices/d1", "", "X-Request-Id", "a b<c>").header("X-Request-Id"))
        .doesNotContain("<")
        .isNotEmpty();
  }

  @Test
  void a_misspelt_query_parameter_is_told() {
    for (String list : List.of("/devices/d1/deliveries", "/live-activity-channels", "/uplinks")) {
      Answer answer = shop.get(list + "?limt=5&limit=5");

      isProblem(answer, 422, "invalid_request");
      assertThat(answer.json().get("errors")).hasSize(1);
      assertThat(answer.json().at("/errors/0/pointer").stringValue()).isEqualTo("?limt");
      assertThat(answer.json().at("/errors/0/code").stringValue()).isEqualTo("unknown_parameter");
      assertThat(answer.json().at("/errors/0/detail").stringValue()).contains("cursor", "limit");
    }
    isProblem(
        dispatcher.call("GET", "/v1/apps/" + shop.app() + "/uplinks?limt=5", ""),
        401,
        "api_key_missing");
    assertThat(shop.get("/devices/d1?limt=5").status()).isEqualTo(200);
  }

  @Test
  void an_encoded_slash_is_no_way_past_a_key() {
    Tenant other = dispatcher.tenant();
    String authorization = "Bearer " + other.key().text().reveal();
    String tags = "/devices/d1/tags/vip";
    for (String app :
        List.of(
            other.app() + "/..%2F" + shop.app(),
            other.app() + "/..%5C" + shop.app(),
            other.app() + "%2F..%2F" + shop.app(),
            other.app() + "%5C..%5C" + shop.app(),
            other.app() + "/%2E%2E/" + shop.app(),
            other.app() + "/../" + shop.app(),
            shop.app() + "%2F",
            "%2F" + shop.app(),
            shop.app())) {
      for (String path : List.of(tags, "/messages", "/messages:batch")) {
        String method = path.equals(tags) ? "PUT" : "POST";
        Answer answer =
            dispatcher.call(
                method,
                "/v1/apps/" + app + path,
                HELLO,
                "Authorization",
                authorization,
                "Content-Type",
                "application/json");
        assertThat(answer.status()).as(app + path + " " + answer).isEqualTo(404);
      }
    }

    isProblem(shop.get("/devices/d1%2F..%2Fd1"), 404, "device_not_found");
    isProblem(shop.get("/messages/a%2Fb"), 404, "message_not_found");
    isProblem(dispatcher.call("GET", "/docs/..%2Fopenapi.json", ""), 404, "not_found");
    isProblem(shop.put("/devices/d1/topics/a%2Fb", ""), 422, "invalid_request");
    isProblem(shop.put("/devices/d1/tags/a%00b", ""), 400, "malformed_request");
    assertThat(shop.get("/devices/d1").json().get("tags")).isEmpty();
  }

  /// A semicolon in a path is a character like any other
  /// (https://www.rfc-editor.org/rfc/rfc3986#section-3.3).
  @Test
  void nothing_is_cut_off_behind_a_semicolon() {
    shop.put("/devices/d1/tags/a", "");
    for (String path :
        List.of("/devices/d1;x=1", "/devices/d1;", "/devices/d1;x=1/deliveries", "/devices/;/d1")) {
      isNotFound(shop.get(path));
    }
    for (String path :
        List.of("/uplinks;limit=1", "/live-activity-channels;x", "/live-activity-channels/c;x")) {
      isNotFound(shop.get(path));
    }
    for (String path :
        List.of("/messages;v=1", "/messages:batch;v=1", "/messages:validate;v=1", "/devices;x")) {
      isNotFound(shop.post(path, HELLO));
    }
    String id = shop.post("/messages", HELLO).json().get("id").stringValue();
    for (String path : List.of(id + ";", id + ";x/deliveries", id + "/deliveries;x")) {
      isNotFound(shop.get("/messages/" + path));
    }
    // Which is the id of no message, that can be read only.
    isProblem(shop.post("/messages/" + id + ":cancel;x", ""), 405, "method_not_allowed");
    isNotFound(shop.post("/messages/" + id + ";x:cancel", ""));
    isProblem(shop.put("/devices/d1/topics/a;b", ""), 422, "invalid_request");
    isProblem(shop.put("/devices/d2;x", "{\"platform\":\"iot\"}"), 422, "invalid_request");
    isNotFound(shop.put("/devices/d1;x/session", ""));
    isNotFound(shop.call("DELETE", "/devices/d1;x", ""));
    isNotFound(
        dispatcher.call(
            "GET",
            "/v1/apps/" + shop.app() + ";x/devices/d1",
            "",
            "Authorization",
            "Bearer " + shop.key().text().reveal()));
    isNotFound(dispatcher.call("GET", "/docs;x", ""));
    isNotFound(dispatcher.call("GET", "/openapi.json;x", ""));

    assertThat(shop.put("/devices/d1/tags/a;b", "").status()).isEqualTo(204);
    assertThat(shop.put("/devices/d1/tags/a%3Bc", "").status()).isEqualTo(204);
    assertThat(shop.call("DELETE", "/devices/d1/tags/a;b;", "").status()).isEqualTo(204);
    assertThat(shop.call("DELETE", "/devices/d1/tags/a;c", "").status()).isEqualTo(204);
    assertThat(shop.get("/devices/d1").json().get("tags").toString()).isEqualTo("[\"a\",\"a;b\"]");
  }

  private static void isNotFound(Answer answer) {
    assertThat(answer.status()).as(answer.http().uri() + " " + answer).isEqualTo(404);
    assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
  }

  @Test
  void wrong_paging_is_told() {
    isProblem(shop.get("/devices/d1/deliveries?limit=0"), 422, "invalid_request");
    isProblem(shop.get("/devices/d1/deliveries?limit=1001"), 422, "invalid_request");
    isProblem(shop.get("/devices/d1/deliveries?cursor=%25"), 422, "invalid_request");
    for (String list : List.of("/devices/d1/deliveries", "/live-activity-channels")) {
      // No id has an umlaut.
      isProblem(shop.get(list + "?cursor=w7w"), 422, "invalid_request");
    }
    for (String query :
        List.of("cursor=x", "cursor=-1", "after=x", "limit=0", "limit=1001", "cursor=1&after=2")) {
      isProblem(shop.get("/uplinks?" + query), 422, "invalid_request");
    }
    assertThat(shop.get("/uplinks?after=x").json().get("detail").stringValue())
        .isEqualTo("?after: take it from next_cursor of the answer before");
    isProblem(shop.get("/messages/nope"), 404, "message_not_found");
    isProblem(shop.get("/messages/0192e0f0-0000-7000-8000-000000000001"), 404, "message_not_found");
    String afterAllDays = "/messages/ffffffff-ffff-7fff-8fff-ffffffffffff";
    isProblem(shop.get(afterAllDays), 404, "message_not_found");
    isProblem(shop.get(afterAllDays + "/deliveries"), 404, "message_not_found");
    isProblem(shop.post(afterAllDays + ":cancel", ""), 404, "message_not_found");
  }
}
