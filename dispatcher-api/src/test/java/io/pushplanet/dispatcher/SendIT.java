package io.pushplanet.dispatcher;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class SendIT {
  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @Test
  void a_message_to_a_device_is_accepted_when_the_broker_has_it() {
    shop.device("d1", "{\"mqtt\":true}");
    dispatcher.drain("push.mqtt.high");
    dispatcher.drain("push.accepted");

    Answer answer =
        shop.post(
            "/messages",
            """
            {"audience":{"device":"d1"},"content":{"title":"Shipped","body":"<b>77</b>","data":{"order":"77"}},
             "delivery":{"route":"auto","ttl":"PT6H","priority":"high","collapse_key":"order-77","fallback_after":"PT5S"},
             "overrides":{"apns":{"interruption-level":"active"},"fcm":{"android":{"notification":{"channel_id":"orders"}}}}}
            """,
            "traceparent",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    assertThat(answer.json().get("state").stringValue()).isEqualTo("accepted");
    assertThat(answer.json().at("/recipients/estimate").intValue()).isEqualTo(1);
    String id = answer.json().get("id").stringValue();
    assertThat(answer.header("Location")).isEqualTo("/v1/apps/" + shop.app() + "/messages/" + id);
    assertThat(answer.header("X-Request-Id")).isNotEmpty();
    List<JsonNode> pushes = dispatcher.drain("push.mqtt.high");
    assertThat(pushes).hasSize(1);
    assertThat(pushes.getFirst().get("id").stringValue()).isEqualTo(id);
    assertThat(pushes.getFirst().at("/content/body").stringValue()).isEqualTo("<b>77</b>");
    assertThat(pushes.getFirst().at("/recipients/0/device").stringValue()).isEqualTo("d1");
    assertThat(pushes.getFirst().get("traceparent").stringValue()).startsWith("00-0af7651916cd43");
    List<JsonNode> events = dispatcher.drain("push.accepted");
    assertThat(events).hasSize(1);
    assertThat(events.getFirst().get("event").stringValue()).isEqualTo("accepted");
    assertThat(events.getFirst().get("expanded").booleanValue()).isTrue();
  }

  @Test
  void a_text_is_the_same_for_the_device_the_table_and_the_api() {
    shop.device("d1", "{\"mqtt\":true}");
    dispatcher.drain("push.mqtt.high");
    dispatcher.drain("push.accepted");
    String content =
        """
        { "data" : {"n":"1e400", "\\u006b\\u0000":"\\"\\\\\\/", "": ""},
          "title" : null, "body":"\\ud83d\\ude00 \\u00e9é \\t</script>\\u2028 안녕" }
        """;
    JsonNode meant =
        WireForm.mapper()
            .createObjectNode()
            .put("body", "😀 éé \t</script>\u2028 안녕")
            .set(
                "data",
                WireForm.mapper()
                    .createObjectNode()
                    .put("n", "1e400")
                    .put("k\0", "\"\\/")
                    .put("", ""));

    Answer answer =
        shop.post("/messages", "{\"audience\":{\"device\":\"d1\"},\"content\":" + content + "}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    String id = answer.json().get("id").stringValue();
    assertThat(dispatcher.drain("push.mqtt.high"))
        .singleElement()
        .satisfies(push -> assertThat(push.get("content")).isEqualTo(meant));
    assertThat(dispatcher.drain("push.accepted"))
        .singleElement()
        .satisfies(news -> assertThat(news.get("content")).isEqualTo(meant));
    assertThat(shop.get("/messages/" + id).json().get("content")).isEqualTo(meant);
  }

  @Test
  void a_path_that_is_written_in_another_way_leads_to_the_same_place() {
    shop.device("d1", "{\"mqtt\":true}");
    String body = "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}";

    for (String path : List.of("/messages", "/%6dessages", "/%6Dessages")) {
      Answer answer = shop.post(path, body);

      assertThat(answer.status()).as(path + " " + answer).isEqualTo(202);
      assertThat(answer.header("X-Request-Id")).isNotEmpty();
      assertThat(answer.header("Cache-Control")).isEqualTo("no-store");
      assertThat(answer.header("Content-Type")).isEqualTo("application/json");
    }
  }

  @Test
  void a_browser_is_reached_over_web_push_whichever_route_leads_to_a_vendor() {
    shop.device("browser", "{\"webpush\":" + RegistrationIT.SUBSCRIPTION + "}");
    dispatcher.drain("push.webpush.normal");
    String body =
        "{\"audience\":{\"device\":\"browser\"},\"content\":{\"title\":\"hi\"},\"delivery\":{\"route\":\"%s\",\"priority\":\"normal\"}}";

    assertThat(shop.post("/messages", body.formatted("auto")).status()).isEqualTo(202);
    assertThat(shop.post("/messages", body.formatted("vendor")).status()).isEqualTo(202);

    assertThat(dispatcher.drain("push.webpush.normal"))
        .hasSize(2)
        .allSatisfy(push -> {
          assertThat(push.at("/recipients/0/device").stringValue()).isEqualTo("browser");
          assertThat(push.at("/recipients/0/webpush/json").stringValue()).contains("p256dh");
        });
  }

  @Test
  void a_message_of_low_priority_takes_the_normal_lane() {
    shop.device("asleep", "{\"fcm\":{\"token\":\"asleep-token\"}}");
    dispatcher.drain("push.fcm.normal");

    Answer answer =
        shop.post(
            "/messages",
            "{\"audience\":{\"device\":\"asleep\"},\"content\":{\"title\":\"hi\"},\"delivery\":{\"priority\":\"low\"}}");

    assertThat(answer.status()).isEqualTo(202);
    assertThat(dispatcher.drain("push.fcm.normal"))
        .singleElement()
        .satisfies(
            push -> assertThat(push.at("/delivery/priority").stringValue()).isEqualTo("low"));
  }

  @Test
  void a_phone_with_huaweis_services_only_is_reached_over_push_kit() {
    shop.device("huawei", "{\"hms\":{\"token\":\"IQAA-1_x\"}}");
    dispatcher.drain("push.hms.high");
    String body =
        "{\"audience\":{\"device\":\"huawei\"},\"content\":{\"body\":\"%s\"},\"overrides\":{\"hms\":{\"android\":{\"category\":\"EXPRESS\"}}}}";

    assertThat(shop.post("/messages", body.formatted("hi")).status()).isEqualTo(202);
    assertThat(dispatcher.drain("push.hms.high"))
        .singleElement()
        .satisfies(push -> {
          assertThat(push.at("/recipients/0/hms/token").stringValue()).isEqualTo("IQAA-1_x");
          assertThat(push.at("/overrides/hms/android/category").stringValue()).isEqualTo("EXPRESS");
        });

    Answer refused = shop.post("/messages", body.formatted("x".repeat(3_900)));
    assertThat(refused.status()).as(refused.toString()).isEqualTo(413);
    assertThat(refused.json().at("/errors/0/code").stringValue()).isEqualTo("too_large_for_hms");
  }

  @Test
  void a_message_too_large_for_its_browser_is_refused_with_its_size() {
    shop.device("browser", "{\"webpush\":" + RegistrationIT.SUBSCRIPTION + "}");
    String body = "{\"audience\":{\"device\":\"%s\"},\"content\":{\"body\":\"%s\"}}";
    String text = "x".repeat(3_950);

    Answer refused = shop.post("/messages", body.formatted("browser", text));

    assertThat(refused.status()).as(refused.toString()).isEqualTo(413);
    assertThat(refused.json().at("/errors/0/code").stringValue())
        .isEqualTo("too_large_for_webpush");
    assertThat(refused.json().at("/errors/0/detail").stringValue())
        .startsWith("Web Push takes 3993 bytes")
        .endsWith("bytes too many");
    // The inbox takes a message that is too large for the browser.
    shop.device("both", "{\"mqtt\":true,\"webpush\":" + RegistrationIT.SUBSCRIPTION + "}");
    assertThat(shop.post("/messages", body.formatted("both", text)).status()).isEqualTo(202);
  }

  @Test
  void a_request_with_more_items_than_a_lane_takes_gets_through() {
    String message =
        "{\"audience\":{\"devices\":["
            + IntStream.range(0, 30).mapToObj(i -> "\"n" + i + "\"").collect(joining(","))
            + "]},\"content\":{\"title\":\"hi\"}}";
    dispatcher.drain("push.events");

    Answer answer =
        shop.post(
            "/messages:batch",
            "{\"messages\":[" + String.join(",", Collections.nCopies(1_000, message)) + "]}");

    assertThat(answer.status()).as(answer.http().body()).isEqualTo(202);
    assertThat(dispatcher.drain("push.events")).hasSize(30_000);
    dispatcher.drain("push.accepted");
  }

  @Test
  void a_token_for_calls_gets_what_names_its_device_and_nothing_else() {
    shop.put(
        "/devices/d1",
        """
        {"platform":"ios","user":"u1","channels":{"apns":{"token":"%064x"}}}
        """
            .formatted(1));
    shop.put(
        "/devices/d1-voip",
        """
        {"platform":"ios","user":"u1","channels":{"apns":{"token":"%064x","push_type":"voip"}}}
        """
            .formatted(2));
    dispatcher.drain("push.apns.high");
    String large = "\"content\":{\"data\":{\"call\":\"" + "x".repeat(4_900) + "\"}}}";

    Answer toUser =
        shop.post("/messages", "{\"audience\":{\"user\":\"u1\"},\"content\":{\"title\":\"hi\"}}");
    List<JsonNode> shown = dispatcher.drain("push.apns.high");
    Answer call = shop.post("/messages", "{\"audience\":{\"device\":\"d1-voip\"}," + large);
    List<JsonNode> calls = dispatcher.drain("push.apns.high");
    Answer notACall = shop.post("/messages", "{\"audience\":{\"device\":\"d1\"}," + large);
    Answer toNobody = shop.post("/messages", "{\"audience\":{\"device\":\"d2\"}," + large);

    assertThat(toUser.json().at("/recipients/estimate").intValue()).isEqualTo(1);
    assertThat(shown).hasSize(1);
    assertThat(shown.getFirst().get("recipients")).hasSize(1);
    assertThat(shown.getFirst().at("/recipients/0/device").stringValue()).isEqualTo("d1");
    assertThat(shown.getFirst().at("/recipients/0/apns").has("push_type")).isFalse();
    assertThat(call.status()).as(call.toString()).isEqualTo(202);
    assertThat(calls).hasSize(1);
    assertThat(calls.getFirst().at("/recipients/0/apns/push_type").stringValue()).isEqualTo("voip");
    assertThat(notACall.status()).as(notACall.toString()).isEqualTo(413);
    assertThat(toNobody.status()).as(toNobody.toString()).isEqualTo(413);
  }

  @Test
  void a_managed_device_wants_its_push_magic() {
    shop.put(
        "/devices/d1",
        """
        {"platform":"ios","user":"u1","channels":{"apns":{"token":"%064x","push_type":"mdm"}}}
        """
            .formatted(3));

    Answer without =
        shop.post("/messages", "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}");
    Answer with =
        shop.post(
            "/messages",
            "{\"audience\":{\"device\":\"d1\"},\"content\":{\"data\":{\"mdm\":\"6A\"}}}");
    Answer toOthers =
        shop.post(
            "/messages", "{\"audience\":{\"users\":[\"u1\"]},\"content\":{\"title\":\"hi\"}}");

    assertThat(without.status()).as(without.toString()).isEqualTo(422);
    assertThat(without.json().at("/errors/0/pointer").stringValue()).isEqualTo("/content/data");
    assertThat(without.json().at("/errors/0/code").stringValue()).isEqualTo("push_magic_required");
    assertThat(without.json().at("/errors/0/detail").stringValue()).contains("\"d1\"");
    assertThat(with.status()).as(with.toString()).isEqualTo(202);
    assertThat(toOthers.status()).as(toOthers.toString()).isEqualTo(202);
    assertThat(toOthers.json().at("/recipients/estimate").intValue()).isZero();
  }

  /// The device may have another user by then.
  @Test
  void a_message_to_users_names_the_user_of_each_device() {
    shop.put(
        "/devices/d1", "{\"platform\":\"android\",\"user\":\"u1\",\"channels\":{\"mqtt\":true}}");
    dispatcher.drain("push.mqtt.high");

    shop.post("/messages", "{\"audience\":{\"user\":\"u1\"},\"content\":{\"title\":\"hi\"}}");
    shop.post("/messages", "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}");

    assertThat(dispatcher.drain("push.mqtt.high"))
        .extracting(push -> push.at("/recipients/0/user").asString(""))
        .containsExactlyInAnyOrder("u1", "");
  }

  @Test
  void a_user_with_very_many_devices_is_reached_as_a_topic_is() {
    dispatcher.inDatabase(connection -> {
      try (var devices =
          connection.prepareStatement(
              "INSERT INTO devices (app_id, device_id, platform, mqtt, user_id, created_at, updated_at, seen_at)"
                  + " VALUES (?, CONCAT('d', ?), 'ios', 1, 'guest', NOW(3), NOW(3), NOW(3))")) {
        for (int i = 0; i < 65; i++) {
          devices.setString(1, shop.app());
          devices.setInt(2, i);
          devices.addBatch();
        }
        devices.executeBatch();
      }
    });
    dispatcher.drain("push.fanout.high");

    Answer answer =
        shop.post(
            "/messages", "{\"audience\":{\"user\":\"guest\"},\"content\":{\"title\":\"hi\"}}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    assertThat(answer.json().at("/recipients/estimate").intValue()).isEqualTo(65);
    assertThat(dispatcher.drain("push.fanout.high"))
        .singleElement()
        .satisfies(order -> {
          assertThat(order.at("/audience/users/0").stringValue()).isEqualTo("guest");
          assertThat(order.at("/push/recipients").size()).isZero();
        });
  }

  @Test
  void an_unreadable_route_in_redis_is_read_from_the_database() {
    shop.device("d1", "{\"mqtt\":true}");
    RedisLink redis = dispatcher.context.getBean(RedisLink.class);
    redis.ask(commands ->
        commands.set(
            "route:" + shop.app() + "/d1", "{\"device\":\"d1\",\"platform\":\"TELEPHONE\"}"));

    Answer answer =
        shop.post("/messages", "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
  }

  @Test
  void overrides_are_dropped_from_a_message_over_mqtt_alone() {
    shop.device("d1", "{\"mqtt\":true}");
    dispatcher.drain("push.mqtt.high");

    Answer answer =
        shop.post(
            "/messages",
            "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"},\"delivery\":{\"route\":\"mqtt\"},"
                + "\"overrides\":{\"apns\":{\"sound\":\""
                + "x".repeat(50_000)
                + "\"}}}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    assertThat(dispatcher.drain("push.mqtt.high"))
        .singleElement()
        .satisfies(push -> assertThat(push.get("overrides")).isEmpty());
  }

  @Test
  void a_send_costs_no_sql_statement_once_routes_are_known() {
    shop.device("d1", "{\"mqtt\":true,\"fcm\":{\"token\":\"abc:DEF-1\"}}");
    String body = "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}";
    io.pushplanet.common.testing.Eventually.within(
        java.time.Duration.ofSeconds(60),
        () -> {
          dispatcher.sql.reset();
          assertThat(shop.post("/messages", body).status()).isEqualTo(202);
          assertThat(dispatcher.sql.statements()).isEmpty();
        });
    dispatcher.sql.reset();

    for (int i = 0; i < 100; i++) {
      assertThat(shop.post("/messages", body).status()).isEqualTo(202);
    }

    assertThat(dispatcher.sql.statements()).isEmpty();
  }

  @Test
  void every_stage_of_accepting_is_a_histogram() {
    shop.device("d1", "{\"mqtt\":true}");

    shop.post(
        "/messages",
        "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"},\"delivery\":{\"priority\":\"normal\"}}");

    assertThat(dispatcher.metrics())
        .containsPattern(
            "http_server_requests_seconds_bucket\\{method=\"POST\",outcome=\"SUCCESS\",.*status=\"202\",uri=\"/v1/apps/\\{app}/messages\",")
        .containsPattern(
            "http_server_requests_seconds_count\\{method=\"PUT\",.*uri=\"/v1/apps/\\{app}/devices/\\{device}\"")
        .contains("pushplanet_accept_resolve_seconds_bucket{")
        .containsPattern("pushplanet_accept_confirm_seconds_bucket\\{.*priority=\"normal\"")
        .containsPattern("pushplanet_lane_confirm_seconds_bucket\\{.*queue=\"push.mqtt.normal\"");
  }
}
