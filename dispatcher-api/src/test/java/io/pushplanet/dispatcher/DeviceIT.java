package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.LastSeen;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.SessionNotice;
import io.pushplanet.common.session.TakeoverNotices;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class DeviceIT {
  private static final String FULL =
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

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final String WITHOUT_MQTT =
      "{\"platform\":\"android\",\"channels\":{\"mqtt\":false}}";

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @Test
  void a_device_has_at_most_a_hundred_tags_and_topics_however_they_come() {
    shop.device("d1", "{\"mqtt\":true}");
    for (String list : List.of("tags", "topics")) {
      String full =
          IntStream.range(0, 100)
              .mapToObj(i -> "\"t" + i + "\"")
              .collect(Collectors.joining(",", "{\"" + list + "\":[", "]}"));
      assertThat(shop.call("PATCH", "/devices/d1", full).status()).isEqualTo(200);
      String one = "/devices/d1/" + list + "/";

      Answer more = shop.put(one + "more", "");

      assertThat(more.status()).as(more.toString()).isEqualTo(422);
      assertThat(more.json().at("/errors/0/code").stringValue()).isEqualTo("too_many");
      assertThat(shop.put(one + "t7", "").status()).isEqualTo(204);
      assertThat(shop.get("/devices/d1").json().get(list)).hasSize(100);
      assertThat(shop.call("DELETE", one + "t7", "").status()).isEqualTo(204);
      assertThat(shop.put(one + "more", "").status()).isEqualTo(204);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"x/y", "a\\b", "../..", "/", "%2F", "a;b", "?#", "é 가"})
  void a_tag_comes_and_goes_by_its_path_whatever_it_is(String tag) {
    shop.device("d1", "{\"mqtt\":true}");
    String path =
        "/devices/d1/tags/" + URLEncoder.encode(tag, StandardCharsets.UTF_8).replace("+", "%20");

    Answer added = shop.put(path, "");
    String has = shop.get("/devices/d1").json().at("/tags/0").asString();
    Answer removed = shop.call("DELETE", path, "");

    assertThat(added.status()).as(added.toString()).isEqualTo(204);
    assertThat(has).isEqualTo(tag);
    assertThat(removed.status()).as(removed.toString()).isEqualTo(204);
    assertThat(shop.get("/devices/d1").json().get("tags")).isEmpty();
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

  @Test
  void a_subscription_is_the_same_however_it_was_written() {
    String registration = "{\"platform\":\"web\",\"channels\":{\"webpush\":%s}}";
    shop.put("/devices/w1", registration.formatted(SUBSCRIPTION));

    Answer moved =
        shop.put("/devices/w2", registration.formatted(SUBSCRIPTION.replace("=\"", "\"")));

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

  /// Because of gap locks, first registrations of neighbours deadlocked. Load runs found it.
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
  void a_patch_changes_what_it_names_and_null_removes() {
    shop.put("/devices/d1", FULL);

    Answer answer =
        shop.call(
            "PATCH",
            "/devices/d1",
            "{\"user\":null,\"locale\":\"en\",\"channels\":{\"fcm\":null,\"mqtt\":false},\"tags\":null}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.json().has("user")).isFalse();
    assertThat(answer.json().get("locale").stringValue()).isEqualTo("en");
    assertThat(answer.json().get("timezone").stringValue()).isEqualTo("Asia/Seoul");
    assertThat(answer.json().at("/channels/mqtt").booleanValue()).isFalse();
    assertThat(answer.json().at("/channels/fcm").isMissingNode()).isTrue();
    assertThat(answer.json().at("/channels/apns").isMissingNode()).isFalse();
    assertThat(answer.json().get("tags")).isEmpty();
    assertThat(shop.call("PATCH", "/devices/d1", "{\"colour\":1}").status()).isEqualTo(422);
    assertThat(shop.call("PATCH", "/devices/nobody", "{}").status()).isEqualTo(404);
  }

  @Test
  void topics_and_tags_come_and_go() {
    shop.device("d1", "{}");

    assertThat(shop.put("/devices/d1/topics/news.sport", "").status()).isEqualTo(204);
    assertThat(shop.put("/devices/d1/tags/vip%20%EA%B0%80", "").status()).isEqualTo(204);
    assertThat(shop.put("/devices/d1/tags/vip%20", "").status()).isEqualTo(422);
    assertThat(shop.get("/devices/d1").json().at("/topics/0").stringValue())
        .isEqualTo("news.sport");
    assertThat(shop.get("/devices/d1").json().at("/tags/0").stringValue()).isEqualTo("vip 가");
    assertThat(shop.call("DELETE", "/devices/d1/topics/news.sport", "").status()).isEqualTo(204);
    assertThat(shop.call("DELETE", "/devices/d1/topics/news.sport", "").status()).isEqualTo(204);
    assertThat(shop.get("/devices/d1").json().get("topics")).isEmpty();
    assertThat(shop.put("/devices/nobody/topics/a", "").status()).isEqualTo(404);
  }

  @Test
  void a_deleted_device_is_gone_at_once() {
    shop.device("d1", "{\"mqtt\":true}");
    String send = "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}";
    assertThat(shop.post("/messages", send).status()).isEqualTo(202);

    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

    assertThat(shop.get("/devices/d1").status()).isEqualTo(404);
    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(404);
    assertThat(shop.post("/messages", send).status()).isEqualTo(404);
  }

  /// Each of these registrations is deleted within a second.
  @Test
  void a_deletion_denies_all_earlier_passwords_and_no_later_one() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long denied = 0;
    for (int life = 0; life < 5; life++) {
      long first = shop.passwordEnds("d1");
      long last = shop.passwordEnds("d1");
      assertThat(first).isGreaterThan(denied);
      assertThat(dispatcher.deniedUntil(device)).isEqualTo(denied);

      assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

      denied = dispatcher.deniedUntil(device);
      assertThat(denied).isGreaterThanOrEqualTo(first).isGreaterThanOrEqualTo(last);
    }
    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(404);
    assertThat(dispatcher.deniedUntil(device)).as("of no device, nothing").isEqualTo(denied);
  }

  /// Such a password was given by a dispatcher whose clock is ahead, or when passwords were valid
  /// for longer.
  @Test
  void a_password_that_ends_later_than_one_of_today_is_denied_too() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long ends = shop.passwordEnds("d1");
    dispatcher.execute(
        "UPDATE devices SET credential_ends = credential_ends + INTERVAL 20 SECOND WHERE app_id = ?",
        shop.app());

    shop.call("DELETE", "/devices/d1", "");

    assertThat(dispatcher.deniedUntil(device)).isEqualTo(ends + 20);
    assertThat(shop.passwordEnds("d1")).isEqualTo(ends + 21);
    assertThat(shop.passwordEnds("d1")).as("and no sooner").isEqualTo(ends + 21);
  }

  @Test
  void a_password_that_expires_late_does_not_delay_later_ones() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long ends = shop.passwordEnds("d1");
    dispatcher.execute(
        "UPDATE devices SET credential_ends = credential_ends + INTERVAL 1 YEAR WHERE app_id = ?",
        shop.app());

    assertThat(shop.passwordEnds("d1")).isBetween(ends, ends + 600);
    shop.call("DELETE", "/devices/d1", "");
    assertThat(dispatcher.deniedUntil(device)).isGreaterThan(ends + 300 * 24 * 3_600);
  }

  @Test
  void mqtt_off_ends_the_passwords_and_mqtt_on_gives_a_valid_one() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long before = shop.passwordEnds("d1");

    shop.put("/devices/d1", WITHOUT_MQTT);

    assertThat(dispatcher.deniedUntil(device)).as("at once").isGreaterThanOrEqualTo(before);
    assertThat(shop.passwordEnds("d1")).isGreaterThan(dispatcher.deniedUntil(device));
  }

  @Test
  void a_device_that_never_had_mqtt_has_no_password_to_deny() {
    shop.put("/devices/d1", WITHOUT_MQTT);
    shop.put("/devices/d1", WITHOUT_MQTT);

    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

    assertThat(denied()).isEmpty();
  }

  @Test
  void a_device_that_once_had_mqtt_is_denied_when_deleted() {
    long before = shop.passwordEnds("d1");
    shop.put("/devices/d1", WITHOUT_MQTT);
    dispatcher.execute("DELETE FROM denied_devices WHERE app_id = ?", shop.app());
    shop.put("/devices/d1", WITHOUT_MQTT);

    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

    assertThat(denied()).containsExactly("d1");
    assertThat(shop.passwordEnds("d1")).isGreaterThan(before);
  }

  /// A dispatcher of an earlier version may have given it a password.
  @Test
  void a_device_with_unknown_passwords_is_denied_when_deleted() {
    shop.put("/devices/d1", WITHOUT_MQTT);
    dispatcher.execute("UPDATE devices SET credential_ends = NULL WHERE app_id = ?", shop.app());
    shop.put("/devices/d1", WITHOUT_MQTT);

    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

    assertThat(denied()).containsExactly("d1");
  }

  private List<String> denied() {
    return dispatcher.texts("SELECT device_id FROM denied_devices WHERE app_id = ?", shop.app());
  }

  @Test
  void a_password_of_a_dispatcher_that_notes_no_end_is_denied_too() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long ends = shop.passwordEnds("d1");
    dispatcher.execute(
        "UPDATE devices SET credential_ends = NULL, updated_at = updated_at + INTERVAL 20 SECOND WHERE app_id = ?",
        shop.app());

    shop.call("DELETE", "/devices/d1", "");

    assertThat(dispatcher.deniedUntil(device)).isEqualTo(ends + 20);
  }

  /// Otherwise the node would repeat unacknowledged messages of the former user, and deliver those
  /// that it has read from the inbox.
  @Test
  void with_its_user_a_device_loses_its_mqtt_session_wherever_it_is() throws Exception {
    RedisCommands<String, String> redis =
        dispatcher.context.getBean(RedisLink.class).connection().sync();
    var told = new LinkedBlockingQueue<SessionNotice>();
    var listening = new CountDownLatch(1);
    var node = new NodeId("node-of-" + shop.app());
    try (TakeoverNotices notices =
        TakeoverNotices.listen(
            dispatcher.context.getBean(RedisClient.class), node, told::add, listening::countDown)) {
      assertThat(notices).isNotNull();
      assertThat(listening.await(60, TimeUnit.SECONDS)).isTrue();
      for (String device : List.of("away", "here")) {
        shop.put("/devices/" + device, ofNobody());
        redis.set("mqtt-session:" + shop.app() + "/" + device, "1,0,7");
      }
      redis.set("session:" + shop.app() + "/here", "7|" + node.value());

      for (String device : List.of("away", "here")) {
        shop.put("/devices/" + device, ofUser("u1"));
        shop.put("/devices/" + device, ofUser("u1"));
        assertThat(redis.exists("mqtt-session:" + shop.app() + "/" + device))
            .as("its first user")
            .isOne();
        shop.put("/devices/" + device, ofUser("u2"));
        assertThat(redis.exists("mqtt-session:" + shop.app() + "/" + device)).isZero();
      }

      assertThat(told.poll(60, TimeUnit.SECONDS))
          .isEqualTo(
              new SessionNotice.Handover(
                  new DeviceKey(new AppId(shop.app()), new DeviceId("here")), 7));
      shop.put("/devices/here", ofNobody());
      assertThat(told.poll(60, TimeUnit.SECONDS))
          .as("registered for nobody")
          .isInstanceOf(SessionNotice.Handover.class);
      assertThat(told).isEmpty();
    }
  }

  private static String ofNobody() {
    return "{\"platform\":\"android\",\"channels\":{\"mqtt\":true}}";
  }

  private static String ofUser(String user) {
    return "{\"platform\":\"android\",\"channels\":{\"mqtt\":true},\"user\":\"" + user + "\"}";
  }

  @Test
  void messages_that_wait_for_a_deleted_device_end_as_failed() {
    shop.device("d1", "{\"mqtt\":true}");
    dispatcher.execute(
        "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at)"
            + " VALUES (?, 'd1', 's', '0192e0f0-0000-7000-8000-000000000001', '{}', NOW(3), NOW(3))",
        shop.app());
    dispatcher.drain("push.events");

    shop.call("DELETE", "/devices/d1", "");

    assertThat(dispatcher.drain("push.events"))
        .anySatisfy(event -> {
          assertThat(event.get("event").stringValue()).isEqualTo("ended");
          assertThat(event.get("state").stringValue()).isEqualTo("failed");
          assertThat(event.at("/attempt/reason").stringValue()).isEqualTo("device_deleted");
        });
  }

  @Test
  void messages_for_a_user_who_logged_out_end_as_failed() {
    String mqtt = "{\"platform\":\"android\",\"channels\":{\"mqtt\":true},\"user\":\"%s\"}";
    assertThat(shop.put("/devices/d1", mqtt.formatted("u1")).status()).isEqualTo(201);
    waits("1", "u1", "{\"kind\":\"users\",\"users\":[\"u1\"]}");
    waits("2", "u1", "{\"kind\":\"users\",\"users\":[\"u1\",\"u2\"]}");
    waits("3", null, "{\"kind\":\"devices\",\"devices\":[\"d1\"]}");
    dispatcher.drain("push.events");

    assertThat(shop.put("/devices/d1", mqtt.formatted("u1")).status()).isEqualTo(200);
    assertThat(waiting()).hasSize(3);
    assertThat(shop.put("/devices/d1", mqtt.formatted("u2")).status()).isEqualTo(200);

    assertThat(waiting()).containsExactly(messageId("3"));
    assertThat(ended())
        .as("also what names the new user")
        .containsExactlyInAnyOrder(
            messageId("1") + " failed user_changed", messageId("2") + " failed user_changed");

    waits("4", "u2", "{\"kind\":\"users\",\"users\":[\"u2\"]}");
    String nobody = "{\"platform\":\"android\",\"channels\":{\"mqtt\":true}}";
    assertThat(shop.put("/devices/d1", nobody).status()).isEqualTo(200);
    assertThat(waiting()).containsExactly(messageId("3"));
  }

  /// A cancellation skips rows that another transaction has locked.
  @Test
  void a_cancellation_takes_a_message_out_while_its_device_changes_its_user() throws Exception {
    String user = "{\"platform\":\"android\",\"channels\":{\"mqtt\":true},\"user\":\"%s\"}";
    assertThat(shop.put("/devices/d1", user.formatted("u1")).status()).isEqualTo(201);
    waits("5", null, "{\"kind\":\"devices\",\"devices\":[\"d1\"]}");
    waits("6", "u1", "{\"kind\":\"users\",\"users\":[\"u1\"]}");
    try (Connection connection = dispatcher.connection();
        var callers = Executors.newSingleThreadExecutor()) {
      lock(
          connection,
          "SELECT 1 FROM inbox WHERE app_id = ? AND device_id = 'd1' AND slot = '6' FOR UPDATE");

      Future<Answer> change = callers.submit(() -> shop.put("/devices/d1", user.formatted("u2")));
      Eventually.within(PATIENCE, () -> assertThat(someoneWaits()).isTrue());
      assertThat(shop.post("/messages/" + messageId("5") + ":cancel", "").status()).isEqualTo(200);
      connection.rollback();

      assertThat(change.get(20, TimeUnit.SECONDS).status()).isEqualTo(200);
    }
    assertThat(waiting()).isEmpty();
  }

  @Test
  void that_a_user_changed_is_told_when_nothing_else_is_left_to_fail() throws Exception {
    String user =
        "{\"platform\":\"android\",\"channels\":{\"mqtt\":true,\"fcm\":{\"token\":\"t\"}},\"user\":\"%s\"}";
    assertThat(shop.put("/devices/d1", user.formatted("u1")).status()).isEqualTo(201);
    waits("1", "u1", "{\"kind\":\"users\",\"users\":[\"u1\"]}");
    dispatcher.drain("push.events");
    try (Connection connection = dispatcher.connection();
        var callers = Executors.newSingleThreadExecutor()) {
      lock(connection, "SELECT 1 FROM channel_tokens WHERE app_id = ? FOR UPDATE");

      Future<Answer> change = callers.submit(() -> shop.put("/devices/d1", user.formatted("u2")));
      Eventually.within(PATIENCE, () -> assertThat(someoneWaits()).isTrue());
      assertThat(ended()).isEmpty();
      connection.rollback();

      assertThat(change.get(20, TimeUnit.SECONDS).status()).isEqualTo(200);
    }
    assertThat(ended()).containsExactly(messageId("1") + " failed user_changed");
  }

  private void lock(Connection connection, String select) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement rows = connection.prepareStatement(select)) {
      rows.setString(1, shop.app());
      assertThat(rows.executeQuery().next()).isTrue();
    }
  }

  private boolean someoneWaits() {
    boolean[] waits = new boolean[1];
    dispatcher.inDatabase(connection -> {
      try (PreparedStatement status =
          connection.prepareStatement("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")) {
        ResultSet row = status.executeQuery();
        waits[0] = row.next() && row.getLong("Value") > 0;
      }
    });
    return waits[0];
  }

  private List<String> ended() {
    return dispatcher.drain("push.events").stream()
        .filter(event -> event.get("event").stringValue().equals("ended"))
        .map(event ->
            event.get("message").stringValue()
                + " "
                + event.get("state").stringValue()
                + " "
                + event.at("/attempt/reason").stringValue())
        .toList();
  }

  private static String messageId(String last) {
    return "0192e0f0-0000-7000-8000-00000000000" + last;
  }

  private void waits(String last, @Nullable String user, String audience) {
    dispatcher.execute(
        "INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at)"
            + " VALUES (?, ?, ?, ?, '{}', '{}', NOW(3), NOW(3)) ON DUPLICATE KEY UPDATE audience = VALUES(audience)",
        new MessageId(messageId(last)).day().toString(),
        messageId(last),
        shop.app(),
        audience);
    dispatcher.execute(
        "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at, user_id)"
            + " VALUES (?, 'd1', ?, ?, '{}', NOW(3), NOW(3), ?)",
        shop.app(),
        last,
        messageId(last),
        user);
  }

  private List<String> waiting() {
    List<String> messages = new ArrayList<>();
    dispatcher.inDatabase(connection -> {
      try (PreparedStatement rows =
          connection.prepareStatement(
              "SELECT message_id FROM inbox WHERE app_id = ? ORDER BY message_id")) {
        rows.setString(1, shop.app());
        ResultSet row = rows.executeQuery();
        while (row.next()) {
          messages.add(row.getString(1));
        }
      }
    });
    return messages;
  }

  @Test
  void a_broadcast_that_waits_for_a_deleted_device_ends_for_it_alone() {
    shop.device("d1", "{\"mqtt\":true}");
    dispatcher.execute(
        "INSERT INTO broadcast_devices (app_id, seq, message_id, parked_at, expires_at, first_device, last_device, devices)"
            + " VALUES (?, 7, '0192e0f0-0000-7000-8000-000000000001', NOW(3), NOW(3), 'd0', 'd2', 'd0 d1 d2')",
        shop.app());
    dispatcher.drain("push.events");

    shop.call("DELETE", "/devices/d1", "");
    shop.device("d1", "{\"mqtt\":true}");
    shop.call("DELETE", "/devices/d1", "");

    assertThat(
            dispatcher.drain("push.events").stream()
                .filter(event -> event.get("event").stringValue().equals("ended"))
                .map(event ->
                    event.get("device").stringValue() + " " + event.get("state").stringValue()))
        .containsExactly("d1 failed");
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
  void a_session_update_shows_at_once_and_reaches_mysql_soon() {
    shop.device("d1", "{\"mqtt\":true}");
    Instant before = Instant.parse(shop.get("/devices/d1").json().get("seen_at").stringValue());

    Answer answer =
        shop.put(
            "/devices/d1/session",
            "{\"app_version\":\"1.3\",\"locale\":\"en-GB\",\"timezone\":\"Europe/Berlin\"}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(204);
    assertThat(shop.get("/devices/d1").json().get("app_version").stringValue()).isEqualTo("1.3");
    assertThat(shop.put("/devices/d1/session", "").status()).isEqualTo(204);
    assertThat(shop.put("/devices/nobody/session", "{}").status()).isEqualTo(404);
    assertThat(shop.put("/devices/d1/session", "{\"x\":1}").status()).isEqualTo(422);
    Eventually.within(
        Duration.ofSeconds(60),
        () -> {
          String[] row = new String[2];
          dispatcher.inDatabase(connection -> {
            try (var select =
                connection.prepareStatement(
                    "SELECT app_version, seen_at FROM devices WHERE app_id = ? AND device_id = 'd1'")) {
              select.setString(1, shop.app());
              var found = select.executeQuery();
              found.next();
              row[0] = found.getString(1);
              row[1] = found.getTimestamp(2).toInstant().toString();
            }
          });
          assertThat(row[0]).isEqualTo("1.3");
          assertThat(Instant.parse(row[1])).isAfterOrEqualTo(before);
        });
  }

  /// Reports a connect as a node does.
  @Test
  void a_connect_over_mqtt_counts_as_seen_and_keeps_the_last_update() {
    shop.put("/devices/d1", FULL);
    JsonNode before = shop.get("/devices/d1").json();
    Instant later = Instant.parse(before.get("seen_at").stringValue()).plusSeconds(60);
    dispatcher
        .context
        .getBean(RedisLink.class)
        .connection()
        .sync()
        .hset(LastSeen.PENDING, shop.app() + "/d1", later.toEpochMilli() + "\n\n\n");

    Eventually.within(
        Duration.ofSeconds(60),
        () ->
            assertThat(
                    dispatcher.texts(
                        "SELECT device_id FROM devices WHERE app_id = ? AND seen_at >= ?",
                        shop.app(),
                        Timestamp.from(later)))
                .containsExactly("d1"));
    JsonNode after = shop.get("/devices/d1").json();
    assertThat(after.get("seen_at").stringValue()).isEqualTo(later.toString());
    assertThat(after.get("app_version")).isEqualTo(before.get("app_version"));
    assertThat(after.get("updated_at")).isEqualTo(before.get("updated_at"));
  }

  @Test
  void a_patch_keeps_what_the_device_said_a_moment_before() {
    shop.put("/devices/d1", FULL);

    for (String zone : List.of("Asia/Tokyo", "Europe/Paris", "Asia/Seoul", "UTC")) {
      shop.put("/devices/d1/session", "{\"timezone\":\"" + zone + "\"}");
      Answer patched = shop.call("PATCH", "/devices/d1", "{\"tags\":[\"" + zone + "\"]}");

      assertThat(patched.status()).as(patched.toString()).isEqualTo(200);
      assertThat(patched.json().get("timezone").stringValue()).isEqualTo(zone);
      assertThat(shop.get("/devices/d1").json().get("timezone").stringValue()).isEqualTo(zone);
    }
  }

  @ParameterizedTest
  @EnumSource(ApnsPushType.class)
  void the_push_type_of_a_token_is_told_as_registered(ApnsPushType type) {
    String apns =
        "{\"apns\":{\"token\":\"%064x\",\"push_type\":\"%s\"}}"
            .formatted(type.ordinal() + 1, type.word());

    Answer registered =
        shop.put("/devices/" + type.word(), "{\"platform\":\"ios\",\"channels\":" + apns + "}");
    Answer patched = shop.call("PATCH", "/devices/" + type.word(), "{\"tags\":[\"vip\"]}");
    Answer read = shop.get("/devices/" + type.word());

    assertThat(registered.status()).as(registered.toString()).isEqualTo(201);
    assertThat(patched.status()).as(patched.toString()).isEqualTo(200);
    String told = type == ApnsPushType.ALERT ? "" : type.word();
    for (Answer answer : List.of(registered, patched, read)) {
      assertThat(answer.json().at("/channels/apns/push_type").asString("")).isEqualTo(told);
    }
  }

  @Test
  void a_new_token_by_patch_is_of_the_type_and_environment_of_the_one_before() {
    shop.put(
        "/devices/d1",
        "{\"platform\":\"ios\",\"channels\":{\"apns\":{\"token\":\"%064x\",\"environment\":\"sandbox\",\"push_type\":\"voip\"}}}"
            .formatted(1));

    Answer renewed =
        shop.call(
            "PATCH", "/devices/d1", "{\"channels\":{\"apns\":{\"token\":\"%064x\"}}}".formatted(2));
    Answer forAlerts =
        shop.call("PATCH", "/devices/d1", "{\"channels\":{\"apns\":{\"push_type\":null}}}");
    Answer removed = shop.call("PATCH", "/devices/d1", "{\"channels\":{\"apns\":null}}");

    assertThat(renewed.json().at("/channels/apns").toString())
        .isEqualTo(
            "{\"token\":\"%064x\",\"environment\":\"sandbox\",\"push_type\":\"voip\"}"
                .formatted(2));
    assertThat(forAlerts.json().at("/channels/apns").toString())
        .isEqualTo("{\"token\":\"%064x\",\"environment\":\"sandbox\"}".formatted(2));
    assertThat(removed.json().at("/channels/apns").isMissingNode()).isTrue();
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
