package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a registration may say, and what it is answered.
class RegistrationIT {
  static final String FULL =
      """
      {"platform":"android","channels":{"mqtt":true,"fcm":{"token":"abc:DEF_1-2"},
       "apns":{"token":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","environment":"sandbox"}},
       "user":"u1","locale":"ko-KR","timezone":"Asia/Seoul","tags":["news"],"app_version":"1.2"}
      """;

  /// The keys of RFC 8291's example (https://www.rfc-editor.org/rfc/rfc8291#section-5).
  static final String SUBSCRIPTION =
      """
      {"endpoint":"https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV","expirationTime":null,
       "keys":{"auth":"BTBZMqHH6r4Tts7J_aSIgg",
               "p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4="}}
      """;

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @Test
  void a_registration_answers_what_the_device_needs_to_log_in() {
    Answer answer = shop.post("/devices", FULL);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
    String device = answer.json().get("device").stringValue();
    assertThat(answer.header("Location"))
        .isEqualTo("/v1/apps/" + shop.app() + "/devices/" + device);
    assertThat(answer.json().at("/mqtt/host").stringValue()).isEqualTo("127.0.0.1");
    assertThat(answer.json().at("/mqtt/port").intValue()).isEqualTo(1883);
    assertThat(answer.json().at("/mqtt/tls_port").intValue()).isEqualTo(8883);
    assertThat(answer.json().at("/mqtt/client_id").stringValue()).isEqualTo(device);
    assertThat(answer.json().at("/mqtt/username").stringValue()).isEqualTo(shop.app());
    assertThat(answer.json().at("/mqtt/password").stringValue()).startsWith("v1.");
    assertThat(answer.json().at("/mqtt/topic").stringValue()).isEqualTo("push/messages");
    assertThat(answer.json().at("/channels/fcm/token").stringValue()).isEqualTo("abc:DEF_1-2");
    assertThat(answer.json().at("/channels/apns/environment").stringValue()).isEqualTo("sandbox");
    assertThat(answer.json().at("/tags/0").stringValue()).isEqualTo("news");
    assertThat(shop.get("/devices/" + device).json().get("user").stringValue()).isEqualTo("u1");
    assertThat(shop.get("/devices/" + device).json().has("mqtt")).isFalse();
  }

  @Test
  void a_put_creates_once_and_refreshes_afterwards() {
    assertThat(shop.put("/devices/d1", FULL).status()).isEqualTo(201);
    assertThat(shop.put("/devices/d1", FULL).status()).isEqualTo(200);
    assertThat(shop.put("/devices/bad%20id", FULL).status()).isEqualTo(422);
  }

  /// Also as many as the database stores: it counts characters like OpenAPI.
  @Test
  void an_emoji_is_one_character() {
    String longest = "😀".repeat(128);
    String body = "{\"platform\":\"web\",\"user\":\"%s\",\"tags\":[\"%s\"]}";

    Answer registered = shop.put("/devices/d1", body.formatted(longest, longest));
    Answer tooLong = shop.put("/devices/d1", body.formatted(longest + "a", longest));
    Answer tag =
        shop.call(
            "DELETE", "/devices/d1/tags/" + URLEncoder.encode(longest, StandardCharsets.UTF_8), "");

    assertThat(registered.status()).as(registered.toString()).isEqualTo(201);
    assertThat(registered.json().get("user").stringValue()).isEqualTo(longest);
    assertThat(tooLong.status()).isEqualTo(422);
    assertThat(tooLong.json().at("/errors/0/detail").stringValue())
        .isEqualTo("this has 129 characters; at most 128");
    assertThat(tag.status()).as(tag.toString()).isEqualTo(204);
    assertThat(shop.get("/devices/d1").json().get("tags")).isEmpty();
  }

  @Test
  void a_token_moves_to_its_newest_device() {
    shop.device("old", "{\"fcm\":{\"token\":\"same-token\"}}");
    shop.device("new", "{\"fcm\":{\"token\":\"same-token\"}}");

    assertThat(shop.get("/devices/old").json().at("/channels/fcm").isMissingNode()).isTrue();
    assertThat(shop.get("/devices/new").json().at("/channels/fcm/token").stringValue())
        .isEqualTo("same-token");
  }

  @Test
  void a_subscription_is_the_same_however_it_was_written() {
    String registration = "{\"platform\":\"web\",\"channels\":{\"webpush\":%s}}";
    shop.put("/devices/w1", registration.formatted(SUBSCRIPTION));

    Answer moved =
        shop.put(
            "/devices/w2",
            registration.formatted(
                SUBSCRIPTION.replace("=\"", "\"").replace("null", "1827475200000")));

    assertThat(moved.status()).as(moved.toString()).isEqualTo(201);
    assertThat(moved.json().at("/channels/webpush/endpoint").stringValue())
        .startsWith("https://push.example.net/push/");
    assertThat(moved.json().at("/channels/webpush/keys/auth").stringValue())
        .isEqualTo("BTBZMqHH6r4Tts7J_aSIgg");
    assertThat(shop.get("/devices/w1").json().at("/channels").has("webpush")).isFalse();
  }

  @Test
  void a_push_kit_token_moves_to_the_device_that_registers_it_last() {
    String registration = "{\"platform\":\"android\",\"channels\":{\"hms\":{\"token\":\"%s\"}}}";
    assertThat(shop.put("/devices/h1", registration.formatted("IQAA-1_x==")).status())
        .isEqualTo(201);

    Answer moved = shop.put("/devices/h2", registration.formatted("IQAA-1_x=="));

    assertThat(moved.json().at("/channels/hms/token").stringValue()).isEqualTo("IQAA-1_x==");
    assertThat(shop.get("/devices/h1").json().at("/channels").has("hms")).isFalse();
    Answer refused = shop.put("/devices/h1", registration.formatted("two words"));
    assertThat(refused.status()).isEqualTo(422);
    assertThat(refused.json().at("/errors/0/pointer").stringValue())
        .isEqualTo("/channels/hms/token");
  }

  /// Firebase is replacing tokens by installation ids: an app changes from one to the other with an
  /// update.
  @Test
  void an_installation_id_takes_the_place_of_the_token() {
    String token = "{\"platform\":\"android\",\"channels\":{\"fcm\":{\"token\":\"abc:DEF_1-2\"}}}";
    shop.put("/devices/d1", token);

    Answer patched =
        shop.call("PATCH", "/devices/d1", "{\"channels\":{\"fcm\":{\"fid\":\"cIj-8_Xw0qk\"}}}");

    assertThat(patched.status()).as(patched.toString()).isEqualTo(200);
    assertThat(patched.json().at("/channels/fcm").toString())
        .isEqualTo("{\"fid\":\"cIj-8_Xw0qk\"}");
    dispatcher.drain("push.fcm.high");
    shop.post(
        "/messages",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"},\"delivery\":{\"route\":\"vendor\"}}");
    assertThat(dispatcher.drain("push.fcm.high"))
        .singleElement()
        .satisfies(push -> assertThat(push.toString()).contains("cIj-8_Xw0qk", "\"fid\""));
    Answer back = shop.put("/devices/d1", token);
    assertThat(back.json().at("/channels/fcm").toString()).isEqualTo("{\"token\":\"abc:DEF_1-2\"}");
    Answer both =
        shop.call(
            "PATCH", "/devices/d1", "{\"channels\":{\"fcm\":{\"token\":\"a\",\"fid\":\"b\"}}}");
    assertThat(both.status()).isEqualTo(422);
    assertThat(both.json().at("/errors/0/pointer").stringValue()).isEqualTo("/channels/fcm/token");
  }

  /// Because of gap locks, first registrations of neighbours once deadlocked. Load runs found it.
  @Test
  void neighbours_register_for_the_first_time_at_once() throws Exception {
    List<Callable<Integer>> registrations =
        IntStream.range(0, 200)
            .<Callable<Integer>>mapToObj(i ->
                () ->
                    shop.put(
                            "/devices/neighbour-" + i,
                            "{\"platform\":\"android\",\"channels\":{\"fcm\":{\"token\":\"n"
                                + i
                                + "\"}}}")
                        .status())
            .toList();

    List<Future<Integer>> answers;
    try (var executor = Executors.newFixedThreadPool(16)) {
      answers = executor.invokeAll(registrations);
    }

    for (Future<Integer> answer : answers) {
      assertThat(answer.get()).isEqualTo(201);
    }
  }

  @Test
  void a_faulty_subscription_is_refused_with_its_fault() {
    String wrong =
        SUBSCRIPTION
            .replace("https://push.example.net", "https://a:b@push.example.net")
            .replace("\"expirationTime\":null", "\"expirationTime\":1.5");

    Answer answer =
        shop.post("/devices", "{\"platform\":\"web\",\"channels\":{\"webpush\":" + wrong + "}}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(422);
    assertThat(answer.json().at("/errors/0/detail").stringValue())
        .isEqualTo("endpoint is an https URL without user and password");
    assertThat(answer.json().at("/errors/1/detail").stringValue())
        .isEqualTo("expirationTime is a whole number or null");
  }

  @Test
  void a_token_of_apns_that_is_too_short_is_told_how_long_it_is() {
    Answer answer =
        shop.post(
            "/devices", "{\"platform\":\"ios\",\"channels\":{\"apns\":{\"token\":\"aabb\"}}}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(422);
    assertThat(answer.json().at("/errors/0/detail").stringValue())
        .isEqualTo("an APNs token is hexadecimal, two digits a byte, 8 to 2,048 digits");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"channels\":{}} | /platform | required",
        "{\"platform\":\"windows\"} | /platform | unknown_value",
        "{\"platform\":\"ios\",\"locale\":\"korean!\"} | /locale | not_a_locale",
        "{\"platform\":\"ios\",\"timezone\":\"Mars/Base\"} | /timezone | not_a_timezone",
        "{\"platform\":\"ios\",\"channels\":{\"apns\":{\"token\":\"xyz\"}}} | /channels/apns/token | not_a_token",
        "{\"platform\":\"ios\",\"channels\":{\"apns\":{}}} | /channels/apns/token | required",
        "{\"platform\":\"ios\",\"channels\":{\"apns\":{\"token\":\"00112233\",\"environment\":\"test\"}}} | /channels/apns/environment | unknown_value",
        "{\"platform\":\"ios\",\"channels\":{\"apns\":{\"token\":\"00112233\",\"push_type\":\"background\"}}} | /channels/apns/push_type | unknown_value",
        "{\"platform\":\"ios\",\"channels\":{\"mqtt\":true,\"apns\":{\"token\":\"00112233\",\"push_type\":\"voip\"}}} | /channels/apns | not_alone",
        "{\"platform\":\"ios\",\"channels\":{\"fcm\":{\"token\":\"f\"},\"apns\":{\"token\":\"00112233\",\"push_type\":\"mdm\"}}} | /channels/apns | not_alone",
        "{\"platform\":\"ios\",\"channels\":{\"fcm\":{\"token\":\"a b\"}}} | /channels/fcm/token | not_a_token",
        "{\"platform\":\"ios\",\"channels\":{\"mqtt\":1}} | /channels/mqtt | not_a_boolean",
        "{\"platform\":\"ios\",\"channels\":{\"sms\":{}}} | /channels/sms | unknown_field",
        "{\"platform\":\"web\",\"channels\":{\"webpush\":{\"endpoint\":\"http://a\"}}} | /channels/webpush/endpoint | not_a_url",
        "{\"platform\":\"web\",\"channels\":{\"webpush\":{\"endpoint\":\"https://ä.net/x\"}}} | /channels/webpush/endpoint | not_a_url",
        "{\"platform\":\"web\",\"channels\":{\"webpush\":{\"endpoint\":\"https://user@a.net/x\"}}} | /channels/webpush/endpoint | not_a_url",
        "{\"platform\":\"web\",\"channels\":{\"webpush\":{\"endpoint\":\"https://a.net:65536/x\"}}} | /channels/webpush/endpoint | not_a_url",
        "{\"platform\":\"web\",\"channels\":{\"webpush\":{\"endpoint\":\"https://a.net:0/x\"}}} | /channels/webpush/endpoint | not_a_url",
        "{\"platform\":\"web\",\"channels\":{\"webpush\":{\"endpoint\":\"https://a.net/x\"}}} | /channels/webpush/keys | required",
        "{\"platform\":\"web\",\"channels\":{\"webpush\":{\"endpoint\":\"https://a.net/x\",\"keys\":{\"auth\":\"AAAA\"}}}} | /channels/webpush/keys/auth | not_a_key",
        "{\"platform\":\"web\",\"channels\":{\"webpush\":{\"endpoint\":\"https://a.net/x\",\"keys\":{\"p256dh\":\"AAAA\"}}}} | /channels/webpush/keys/p256dh | not_a_key",
        "{\"platform\":\"web\",\"channels\":{\"webpush\":{\"endpoint\":\"https://a.net/x\",\"keys\":{\"p256dh\":\"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAAAA\"}}}} | /channels/webpush/keys/p256dh | not_a_key",
        "{\"platform\":\"ios\",\"topics\":[\"a\",\"a\",\"b c\"]} | /topics/2 | not_a_topic",
        "{\"platform\":\"ios\",\"tags\":[1]} | /tags/0 | not_a_string",
        "{\"platform\":\"ios\",\"tags\":[\"a\",\"vip \"]} | /tags/1 | ends_in_blank",
        "{\"platform\":\"ios\",\"user\":\"u1 \"} | /user | ends_in_blank",
        "{\"platform\":\"ios\",\"colour\":\"red\"} | /colour | unknown_field",
        "{\"platform\":\"ios\",\"device\":\"a/b\"} | /device | not_a_device_id",
      })
  void a_wrong_registration_is_told_where_and_why(String body, String pointer, String code) {
    Answer answer = shop.post("/devices", body);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(422);
    assertThat(answer.json().get("errors"))
        .anySatisfy(error -> {
          assertThat(error.get("pointer").stringValue()).isEqualTo(pointer);
          assertThat(error.get("code").stringValue()).isEqualTo(code);
        });
  }
}
