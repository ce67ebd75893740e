package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class MessageIT {
  private static final String HELLO =
      "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}";

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  private String send(String body) {
    Answer answer = shop.post("/messages", body);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    return answer.json().get("id").stringValue();
  }

  /// Writes the row like the statistics role.
  private void writeRow(String id, int recipients, int delivered, boolean expanded) {
    dispatcher.execute(
        "INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at, expanded_at,"
            + " recipients, delivered) VALUES (?, ?, ?, ?, '{\"title\":\"hi\",\"data\":{}}', '{}', NOW(3), NOW(3), ?, ?, ?)",
        java.sql.Date.valueOf(new MessageId(id).day()),
        id,
        shop.app(),
        "{\"kind\":\"topic\",\"topic\":\"t\"}",
        expanded ? "2026-01-01 00:00:00" : null,
        recipients,
        delivered);
  }

  private void writeDelivery(String id, String device, String state) {
    dispatcher.execute(
        "INSERT INTO deliveries (day, message_id, device_id, app_id, state, channel, attempts, queued_at)"
            + " VALUES (?, ?, ?, ?, ?, 'mqtt', '[]', NOW(3))",
        java.sql.Date.valueOf(new MessageId(id).day()),
        id,
        device,
        shop.app(),
        state);
  }

  @Test
  void a_message_is_visible_before_its_row_is_written() {
    shop.device("d1", "{\"mqtt\":true}");

    String id = send(HELLO);

    Answer answer = shop.get("/messages/" + id);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.json().get("state").stringValue()).isEqualTo("accepted");
    assertThat(answer.json().at("/counts/queued").intValue()).isEqualTo(1);
    assertThat(answer.json().at("/audience/device").stringValue()).isEqualTo("d1");
    JsonNode delivery = shop.get("/messages/" + id + "/deliveries").json().at("/data/0");
    assertThat(delivery.get("device").stringValue()).isEqualTo("d1");
    assertThat(delivery.get("state").stringValue()).isEqualTo("queued");
    assertThat(dispatcher.tenant().get("/messages/" + id).status()).isEqualTo(404);
  }

  @Test
  void a_message_has_the_same_fields_before_its_row_is_written_and_after() {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);
    JsonNode early = shop.get("/messages/" + id).json();
    writeRow(id, 1, 0, true);
    JsonNode late = shop.get("/messages/" + id).json();

    assertThat(early.propertyNames()).isEqualTo(late.propertyNames());
    assertThat(early.get("content").toString()).isEqualTo("{\"title\":\"hi\"}");
    assertThat(late.get("content")).isEqualTo(early.get("content"));
  }

  @Test
  void deliveries_of_an_impossible_device_id_are_refused() {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);

    assertThat(shop.get("/messages/" + id + "/deliveries?device=nope").json().get("data"))
        .isEmpty();
    for (String device : List.of("", "a%20b")) {
      Answer answer = shop.get("/messages/" + id + "/deliveries?device=" + device);
      assertThat(answer.status()).as(answer.toString()).isEqualTo(422);
      assertThat(answer.json().at("/errors/0/pointer").stringValue()).isEqualTo("?device");
      assertThat(answer.json().at("/errors/0/code").stringValue()).isEqualTo("not_a_device_id");
    }
  }

  /// https://www.rfc-editor.org/rfc/rfc9562#section-4
  @Test
  void an_id_in_capitals_is_the_same_id() {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);
    writeRow(id, 1, 0, true);
    String capitals = "/messages/" + id.toUpperCase(Locale.ROOT);

    assertThat(shop.get(capitals).json().get("id").stringValue()).isEqualTo(id);
    assertThat(shop.get(capitals + "/deliveries").status()).isEqualTo(200);
    assertThat(shop.post(capitals + ":cancel", "").json().get("state").stringValue())
        .isEqualTo("cancelled");
  }

  @Test
  void the_devices_of_a_user_are_visible_before_their_rows_are_written() {
    for (String device : List.of("d2", "d1")) {
      shop.put(
          "/devices/" + device,
          "{\"platform\":\"iot\",\"user\":\"u1\",\"channels\":{\"mqtt\":true}}");
    }

    String id = send("{\"audience\":{\"user\":\"u1\"},\"content\":{\"title\":\"hi\"}}");

    JsonNode deliveries = shop.get("/messages/" + id + "/deliveries").json().get("data");
    assertThat(deliveries.valueStream().map(one -> one.get("device").stringValue()))
        .containsExactly("d1", "d2");
  }

  @Test
  void another_dispatcher_finds_an_accepted_message_in_redis() {
    shop.device("d1", "{\"mqtt\":true}");

    RunningDispatcher other = RunningDispatcher.with(Map.of("dispatcher.key-cache", "11h"));
    Tenant there = new Tenant(other, shop.app(), shop.key());
    RedisLink redis = dispatcher.context.getBean(RedisLink.class);
    // While Redis is slow or away, the copy of a message may be lost; the message is found once its
    // row is written.
    Eventually.within(
        Duration.ofSeconds(60),
        () -> {
          JsonNode results =
              shop.post(
                      "/messages:batch",
                      "{\"messages\":[" + HELLO + "," + HELLO + "," + HELLO + "]}")
                  .json()
                  .get("results");
          assertThat(results).hasSize(3);
          for (JsonNode result : results) {
            MessageId id = new MessageId(result.get("id").stringValue());
            Eventually.within(Duration.ofSeconds(5), () -> isAcceptedThere(there, id));
            String key = "accepted-news:" + id.time().toEpochMilli() % 3_600_000 / 100;
            long left = redis.ask(commands -> commands.pttl(key));
            assertThat(left).isBetween(1L, Duration.ofMinutes(10).toMillis());
          }
        });
  }

  /// Another dispatcher may have accepted it while Redis was away.
  @Test
  void an_unknown_message_of_today_is_not_called_unknown_for_good() {
    String id = new MessageIds(Clock.systemUTC(), new Random(7)).next().value();

    for (Answer answer :
        List.of(
            shop.get("/messages/" + id),
            shop.get("/messages/" + id + "/deliveries"),
            shop.post("/messages/" + id + ":cancel", ""))) {
      assertThat(answer.status()).as(answer.toString()).isEqualTo(404);
      assertThat(answer.json().get("code").stringValue()).isEqualTo("message_not_known_yet");
      assertThat(answer.header("Retry-After")).isEqualTo("2");
    }
    writeRow(id, 1, 0, false);
    assertThat(shop.get("/messages/" + id).status()).isEqualTo(200);
  }

  private static void isAcceptedThere(Tenant there, MessageId id) {
    Answer answer = there.get("/messages/" + id);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.json().get("id").stringValue()).isEqualTo(id.value());
    assertThat(answer.json().get("state").stringValue()).isEqualTo("accepted");
  }

  @Test
  void the_state_of_a_message_follows_from_its_counts() {
    shop.device("d1", "{\"mqtt\":true}");
    String sending = send(HELLO);
    writeRow(sending, 3, 1, true);
    String open = send(HELLO);
    writeRow(open, 1, 1, false);
    String done = send(HELLO);
    writeRow(done, 2, 2, true);

    assertThat(shop.get("/messages/" + sending).json().get("state").stringValue())
        .isEqualTo("sending");
    assertThat(shop.get("/messages/" + sending).json().at("/counts/queued").intValue())
        .isEqualTo(2);
    assertThat(shop.get("/messages/" + open).json().get("state").stringValue())
        .isEqualTo("sending");
    assertThat(shop.get("/messages/" + done).json().get("state").stringValue()).isEqualTo("done");
    assertThat(shop.get("/messages/" + done).json().at("/audience/topic").stringValue())
        .isEqualTo("t");
  }

  @Test
  void deliveries_come_in_pages() {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);
    writeRow(id, 3, 0, true);
    List.of("a", "b", "c").forEach(device -> writeDelivery(id, device, "queued"));

    Answer first = shop.get("/messages/" + id + "/deliveries?limit=2");
    Answer second =
        shop.get(
            "/messages/"
                + id
                + "/deliveries?limit=2&cursor="
                + first.json().get("next_cursor").stringValue());

    assertThat(first.json().get("data")).hasSize(2);
    assertThat(second.json().at("/data/0/device").stringValue()).isEqualTo("c");
    assertThat(second.json().get("next_cursor").isNull()).isTrue();
    assertThat(shop.get("/messages/" + id + "/deliveries?device=b").json().get("data")).hasSize(1);
  }

  @Test
  void a_device_tells_why_newest_first() {
    shop.device("d1", "{\"mqtt\":true}");
    String older = send(HELLO);
    writeDelivery(older, "d1", "delivered");
    String newer = send(HELLO);
    writeDelivery(newer, "d1", "queued");

    JsonNode page = shop.get("/devices/d1/deliveries?limit=1").json();

    assertThat(page.at("/data/0/message").stringValue()).isEqualTo(newer);
    JsonNode next =
        shop.get("/devices/d1/deliveries?cursor=" + page.get("next_cursor").stringValue()).json();
    assertThat(next.at("/data/0/message").stringValue()).isEqualTo(older);
  }

  /// A device may be named like a message, so the id in a cursor does not say whose it is.
  @Test
  void a_list_of_devices_and_one_of_messages_refuse_each_others_cursors() {
    List<String> named =
        List.of("0192e0f0-0000-7000-8000-000000000001", "0192e0f0-0000-7000-8000-000000000002");
    named.forEach(device -> shop.device(device, "{\"mqtt\":true}"));
    String toBoth =
        "{\"audience\":{\"devices\":[\"%s\",\"%s\"]},\"content\":{\"title\":\"hi\"}}"
            .formatted(named.toArray());
    String older = send(toBoth);
    writeDelivery(older, named.getFirst(), "delivered");
    String newer = send(toBoth);
    writeDelivery(newer, named.getFirst(), "queued");
    String ofDevices = "/messages/" + newer + "/deliveries";
    String ofMessages = "/devices/" + named.getFirst() + "/deliveries";
    String device = nextCursor(ofDevices);
    String message = nextCursor(ofMessages);

    assertThat(shop.get(ofDevices + "?cursor=" + device).json().at("/data/0/device").stringValue())
        .isEqualTo(named.getLast());
    assertThat(
            shop.get(ofMessages + "?cursor=" + message).json().at("/data/0/message").stringValue())
        .isEqualTo(older);
    for (String mixed :
        List.of(ofDevices + "?cursor=" + message, ofMessages + "?cursor=" + device)) {
      Answer answer = shop.get(mixed);
      assertThat(answer.status()).as(answer.toString()).isEqualTo(422);
      assertThat(answer.json().at("/errors/0/pointer").stringValue()).isEqualTo("?cursor");
      assertThat(answer.json().at("/errors/0/code").stringValue()).isEqualTo("not_a_cursor");
    }
  }

  private String nextCursor(String list) {
    return shop.get(list + "?limit=1").json().get("next_cursor").stringValue();
  }

  @Test
  void a_cancelled_message_that_waits_for_many_devices_is_marked_for_the_worker() {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);
    writeRow(id, 1, 0, true);
    dispatcher.execute(
        "INSERT INTO broadcasts (app_id, message_id, slot, payload) VALUES (?, ?, ?, '{}')",
        shop.app(),
        id,
        id);

    shop.post("/messages/" + id + ":cancel", "");

    dispatcher.inDatabase(connection -> {
      try (var row =
          connection
              .createStatement()
              .executeQuery(
                  "SELECT cancelled_at FROM broadcasts WHERE message_id = '" + id + "'")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getTimestamp(1)).isNotNull();
      }
    });
  }

  @Test
  void a_cancelled_message_leaves_later_and_the_inbox_and_its_ends_are_told() {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);
    // The rows of its deliveries are written later.
    writeRow(id, 2, 0, true);
    dispatcher.execute(
        "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at)"
            + " VALUES (?, 'd1', ?, ?, '{}', NOW(3), NOW(3))",
        shop.app(),
        id,
        id);
    byte[] push =
        WireForm.join(
            List.of(
                WireForm.write(
                    PushBuilder.aPush(Clock.systemUTC()).from(shop.app()).toMqtt("d2").build())));
    dispatcher.execute(
        "INSERT INTO later (id, due_at, app_id, message_id, lane, reason, pushes)"
            + " VALUES (UUID(), NOW(3), ?, ?, 'push.fcm.high', 'r', ?)",
        shop.app(),
        id,
        new String(push, StandardCharsets.UTF_8));
    dispatcher.drain("push.events");

    Answer answer = shop.post("/messages/" + id + ":cancel", "");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.json().get("state").stringValue()).isEqualTo("cancelled");
    assertThat(
            dispatcher.drain("push.events").stream()
                .map(event ->
                    event.get("device").stringValue() + " " + event.get("state").stringValue())
                .toList())
        .containsExactlyInAnyOrder("d1 cancelled", "d2 cancelled");
    assertThat(shop.post("/messages/" + id + ":cancel", "").status()).isEqualTo(200);
    assertThat(dispatcher.drain("push.events")).isEmpty();
  }

  /// While no worker writes rows, a wrong message must be stopped all the same.
  @Test
  void a_message_whose_row_is_not_written_is_cancelled() {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);

    Answer answer = shop.post("/messages/" + id + ":cancel", "");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.json().get("state").stringValue()).isEqualTo("cancelled");
    assertThat(answer.json().at("/content/title").stringValue()).isEqualTo("hi");
    assertThat(shop.get("/messages/" + id).json()).isEqualTo(answer.json());
  }

  /// A worker that parks an older message of the same collapse key holds the row, and leaves it.
  @Test
  void a_place_in_an_inbox_that_a_worker_holds_is_taken_out_when_it_is_free() throws Exception {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);
    writeRow(id, 1, 0, true);
    dispatcher.execute(
        "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at)"
            + " VALUES (?, 'd1', 'k', ?, '{}', NOW(3), NOW(3))",
        shop.app(),
        id);
    dispatcher.drain("push.events");
    try (Connection worker = dispatcher.connection();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      worker.setAutoCommit(false);
      try (var held = worker.createStatement()) {
        held.executeQuery("SELECT slot FROM inbox WHERE message_id = '" + id + "' FOR UPDATE");
      }

      Future<Answer> cancelled = threads.submit(() -> shop.post("/messages/" + id + ":cancel", ""));

      assertThatThrownBy(() -> cancelled.get(500, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      worker.rollback();
      assertThat(cancelled.get().status()).isEqualTo(200);
    }
    assertThat(dispatcher.drain("push.events"))
        .singleElement()
        .satisfies(event -> assertThat(event.get("state").stringValue()).isEqualTo("cancelled"));
  }

  @Test
  void a_message_that_is_done_stays_done() {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);
    writeRow(id, 1, 1, true);

    assertThat(shop.post("/messages/" + id + ":cancel", "").json().get("state").stringValue())
        .isEqualTo("done");
    assertThat(shop.post("/messages/0192e0f0-0000-7000-8000-000000000001:cancel", "").status())
        .isEqualTo(404);
  }

  @Test
  void recipients_are_grouped_by_lane_and_unreachable_ones_fail() {
    shop.device("m", "{\"mqtt\":true}");
    shop.device("f", "{\"fcm\":{\"token\":\"tok\"}}");
    shop.device("both", "{\"mqtt\":true,\"fcm\":{\"token\":\"tok2\"}}");
    shop.device("none", "{}");
    List.of("push.mqtt.normal", "push.fcm.normal", "push.events").forEach(dispatcher::drain);

    Answer answer =
        shop.post(
            "/messages",
            """
            {"audience":{"devices":["m","f","both","none","who"]},"content":{"title":"a"},
             "delivery":{"priority":"normal"}}
            """);

    assertThat(answer.json().at("/recipients/estimate").intValue()).isEqualTo(5);
    assertThat(dispatcher.drain("push.mqtt.normal")).hasSize(1);
    assertThat(dispatcher.drain("push.fcm.normal").getFirst().get("recipients")).hasSize(2);
    assertThat(
            dispatcher.drain("push.events").stream()
                .filter(event -> event.get("event").stringValue().equals("ended"))
                .map(event ->
                    event.get("device").stringValue()
                        + " "
                        + event.at("/attempt/reason").stringValue()
                        + ": "
                        + event.at("/attempt/action").asString())
                .toList())
        .containsExactlyInAnyOrder(
            "none no_channel: register a channel for this device or change the route",
            "who unknown_device: register this device or forget its id");
  }

  @Test
  void users_are_found_and_broad_audiences_are_left_to_the_fan_out_role() {
    shop.put(
        "/devices/d1",
        "{\"platform\":\"android\",\"channels\":{\"mqtt\":true},\"user\":\"u1\",\"topics\":[\"t1\"],\"tags\":[\"vip\"]}");
    List.of("push.mqtt.high", "push.fanout.high").forEach(dispatcher::drain);

    Answer user =
        shop.post("/messages", "{\"audience\":{\"user\":\"u1\"},\"content\":{\"title\":\"a\"}}");
    Answer nobody =
        shop.post("/messages", "{\"audience\":{\"user\":\"u9\"},\"content\":{\"title\":\"a\"}}");
    String both = "{\"and\":[{\"tag\":\"vip\"},{\"not\":{\"topic\":\"t2\"}}]}";
    for (String audience :
        List.of("{\"topic\":\"t1\"}", "{\"tag\":\"vip\"}", "{\"all\":true}", both)) {
      Answer broad =
          shop.post("/messages", "{\"audience\":" + audience + ",\"content\":{\"title\":\"a\"}}");
      assertThat(broad.status()).as(broad.toString()).isEqualTo(202);
      assertThat(broad.json().at("/recipients/estimate").intValue()).isEqualTo(1);
      assertThat(
              shop.get("/messages/" + broad.json().get("id").stringValue())
                  .json()
                  .get("audience")
                  .toString())
          .isEqualTo(audience);
    }

    assertThat(user.json().at("/recipients/estimate").intValue()).isEqualTo(1);
    assertThat(nobody.json().at("/recipients/estimate").intValue()).isZero();
    assertThat(dispatcher.drain("push.mqtt.high")).hasSize(1);
    assertThat(dispatcher.drain("push.fanout.high")).hasSize(4);
  }

  @Test
  void an_order_goes_to_the_queue_of_its_priority_and_low_beside_normal() {
    List.of("push.fanout.high", "push.fanout.normal").forEach(dispatcher::drain);

    for (String priority : List.of("high", "normal", "low")) {
      send(
          "{\"audience\":{\"all\":true},\"content\":{\"title\":\"a\"},\"delivery\":{\"priority\":\""
              + priority
              + "\"}}");
    }

    assertThat(dispatcher.drain("push.fanout.high"))
        .extracting(order -> order.at("/push/delivery/priority").stringValue())
        .containsExactly("high");
    assertThat(dispatcher.drain("push.fanout.normal"))
        .extracting(order -> order.at("/push/delivery/priority").stringValue())
        .containsExactly("normal", "low");
  }

  @Test
  void a_batch_tells_each_message_in_its_place() {
    shop.device("d1", "{\"mqtt\":true}");

    Answer mixed =
        shop.post(
            "/messages:batch",
            "{\"messages\":["
                + HELLO
                + ",{\"audience\":{\"device\":\"nobody\"},\"content\":{\"title\":\"a\"}},7,{}]}");
    Answer all = shop.post("/messages:batch", "{\"messages\":[" + HELLO + "," + HELLO + "]}");

    assertThat(mixed.status()).as(mixed.toString()).isEqualTo(207);
    assertThat(mixed.json().get("results"))
        .extracting(result -> result.get("status").intValue())
        .containsExactly(202, 404, 422, 422);
    assertThat(mixed.json().at("/results/1/problem/code").stringValue())
        .isEqualTo("device_not_found");
    // As if each message had come alone.
    assertThat(mixed.json().at("/results/2/problem/errors/0/pointer").asString()).isEmpty();
    assertThat(mixed.json().at("/results/3/problem/errors/0/pointer").stringValue())
        .isEqualTo("/audience");
    assertThat(all.status()).as(all.toString()).isEqualTo(202);
    assertThat(shop.get("/messages/" + all.json().at("/results/1/id").stringValue()).status())
        .isEqualTo(200);
    String tooMany =
        IntStream.range(0, 1_001)
            .mapToObj(i -> "{}")
            .collect(Collectors.joining(",", "{\"messages\":[", "]}"));
    assertThat(shop.post("/messages:batch", tooMany).status()).isEqualTo(422);
  }

  @Test
  void validating_sends_nothing() {
    shop.device("d1", "{\"mqtt\":true}");
    dispatcher.drain("push.mqtt.high");

    Answer answer = shop.post("/messages:validate", HELLO);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.json().get("valid").booleanValue()).isTrue();
    assertThat(answer.json().at("/recipients/estimate").intValue()).isEqualTo(1);
    assertThat(dispatcher.drain("push.mqtt.high")).isEmpty();
  }

  @Test
  void validating_warns_of_what_would_be_accepted_and_fail() {
    shop.device("d1", "{\"mqtt\":true}");
    shop.device("bare", "{}");
    dispatcher.drain("push.events");

    assertThat(warnings("{\"device\":\"d1\"}", "auto")).isEmpty();
    assertThat(warnings("{\"device\":\"d1\"}", "vendor"))
        .singleElement()
        .satisfies(warning -> {
          assertThat(warning.get("pointer").stringValue()).isEqualTo("/audience");
          assertThat(warning.get("code").stringValue()).isEqualTo("no_channel");
          assertThat(warning.get("detail").stringValue())
              .isEqualTo(
                  "1 of 1 devices would fail, such as \"d1\": register a channel for this device or change the route");
        });
    assertThat(warnings("{\"device\":\"bare\"}", "auto"))
        .extracting(warning -> warning.get("code").stringValue())
        .containsExactly("no_channel");
    assertThat(warnings("{\"devices\":[\"nope\",\"d1\",\"bare\",\"nix\"]}", "auto"))
        .extracting(warning -> warning.get("detail").stringValue())
        .containsExactly(
            "2 of 4 devices would fail, such as \"nope\": register this device or forget its id",
            "1 of 4 devices would fail, such as \"bare\": register a channel for this device or change the route");
    assertThat(dispatcher.drain("push.events")).isEmpty();
  }

  private List<JsonNode> warnings(String audience, String route) {
    Answer answer =
        shop.post(
            "/messages:validate",
            "{\"audience\":"
                + audience
                + ",\"content\":{\"title\":\"hi\"},\"delivery\":{\"route\":\""
                + route
                + "\"}}");
    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.json().get("valid").booleanValue()).isTrue();
    return answer.json().get("warnings").valueStream().toList();
  }

  @Test
  void an_idempotency_key_gives_one_answer() {
    shop.device("d1", "{\"mqtt\":true}");
    dispatcher.drain("push.mqtt.high");

    Answer first = shop.post("/messages", HELLO, "Idempotency-Key", "order-77");
    Answer again = shop.post("/messages", HELLO, "Idempotency-Key", "order-77");
    Answer other = shop.post("/messages", HELLO.replace("hi", "ho"), "Idempotency-Key", "order-77");

    assertThat(first.status()).as(first.toString()).isEqualTo(202);
    assertThat(first.header("Idempotency-Replayed")).isEmpty();
    assertThat(again.http().body()).isEqualTo(first.http().body());
    assertThat(again.header("Location")).isEqualTo(first.header("Location"));
    assertThat(again.header("Idempotency-Replayed")).isEqualTo("true");
    assertThat(other.status()).isEqualTo(422);
    assertThat(other.json().get("code").stringValue()).isEqualTo("idempotency_key_reused");
    assertThat(dispatcher.drain("push.mqtt.high")).hasSize(1);
  }

  @Test
  void two_idempotency_keys_are_one_too_many() {
    shop.device("d1", "{\"mqtt\":true}");
    for (String path : List.of("/messages", "/live-activity-channels")) {
      String body = path.equals("/messages") ? HELLO : "{}";
      Answer answer = shop.post(path, body, "Idempotency-Key", "one", "Idempotency-Key", "two");

      assertThat(answer.status()).as(answer.toString()).isEqualTo(422);
      assertThat(answer.json().at("/errors/0/pointer").stringValue()).isEqualTo("Idempotency-Key");
      assertThat(answer.json().at("/errors/0/code").stringValue()).isEqualTo("ambiguous");
    }
  }

  @Test
  void a_refused_request_frees_its_idempotency_key() {
    Answer refused = shop.post("/messages", HELLO, "Idempotency-Key", "k");
    shop.device("d1", "{\"mqtt\":true}");

    Answer accepted = shop.post("/messages", HELLO, "Idempotency-Key", "k");

    assertThat(refused.status()).isEqualTo(404);
    assertThat(accepted.status()).as(accepted.toString()).isEqualTo(202);
  }

  @Test
  void the_most_names_at_full_length_fit_into_a_message() {
    shop.put(
        "/devices/d1", "{\"platform\":\"android\",\"channels\":{\"mqtt\":true},\"user\":\"u\"}");
    String devices = names("d%063d");
    // In the form of a program that escapes every character outside of ASCII.
    String users = names("\\uac00".repeat(120) + "%08d");

    Answer toDevices =
        shop.post(
            "/messages",
            "{\"audience\":{\"devices\":[\"d1\"," + devices + "]},\"content\":{\"title\":\"a\"}}");
    Answer toUsers =
        shop.post(
            "/messages",
            "{\"audience\":{\"users\":[\"u\"," + users + "]},\"content\":{\"title\":\"a\"}}");
    Answer tooMuch = shop.post("/messages", " ".repeat(1024 * 1024 - HELLO.length() + 1) + HELLO);

    assertThat(toDevices.status()).as(toDevices.toString()).isEqualTo(202);
    assertThat(toUsers.status()).as(toUsers.toString()).isEqualTo(202);
    assertThat(dispatcher.drain("push.accepted"))
        .extracting(event -> event.at("/audience/users").size())
        .contains(1_000);
    assertThat(tooMuch.status()).isEqualTo(413);
    assertThat(tooMuch.json().get("detail").stringValue()).contains("1,048,576 bytes");
  }

  private static String names(String form) {
    return IntStream.range(0, 999)
        .mapToObj(i -> '"' + String.format(Locale.ROOT, form, i) + '"')
        .collect(Collectors.joining(","));
  }

  @Test
  void uplinks_are_read_in_order() {
    for (int i = 0; i < 3; i++) {
      dispatcher.execute(
          "INSERT INTO uplinks (event_id, app_id, device_id, at, payload) VALUES (UUID(), ?, 'd1', NOW(3), ?)",
          shop.app(),
          ("p" + i).getBytes(StandardCharsets.UTF_8));
    }

    JsonNode first = shop.get("/uplinks?limit=2").json();
    String cursor = first.get("next_cursor").stringValue();

    assertThat(first.at("/data/1/text").stringValue()).isEqualTo("p1");
    // Older backends use `after`, the former name of this parameter.
    for (String name : List.of("cursor", "after")) {
      JsonNode rest = shop.get("/uplinks?" + name + "=" + cursor).json();
      assertThat(rest.get("data")).hasSize(1);
      assertThat(rest.at("/data/0/text").stringValue()).isEqualTo("p2");
    }
    assertThat(shop.get("/uplinks?cursor=").json().get("data")).hasSize(3);
  }

  @Test
  void a_key_that_may_not_read_cancels_without_the_text_of_the_message() {
    shop.device("d1", "{\"mqtt\":true}");
    String id = send(HELLO);
    writeRow(id, 1, 0, true);
    Tenant sender = new Tenant(dispatcher, shop.app(), dispatcher.key(shop.app(), "send"));

    Answer told = sender.post("/messages/" + id + ":cancel", "");

    assertThat(told.status()).as(told.toString()).isEqualTo(200);
    assertThat(told.json().propertyNames())
        .containsExactlyInAnyOrder(
            "id", "state", "accepted_at", "expires_at", "cancelled_at", "counts");
    assertThat(shop.post("/messages/" + id + ":cancel", "").json().at("/content/title").asString())
        .isEqualTo("hi");
  }

  /// A control character takes six bytes of JSON.
  @Test
  void a_page_of_large_uplinks_ends_early_and_its_cursor_leads_on() {
    for (int i = 0; i < 100; i++) {
      dispatcher.execute(
          "INSERT INTO uplinks (event_id, app_id, device_id, at, payload) VALUES (?, ?, 'd1', NOW(3), REPEAT(CHAR(1), 4096))",
          "large-" + i,
          shop.app());
    }

    List<String> read = new ArrayList<>();
    String cursor = "";
    JsonNode data;
    do {
      Answer answer = shop.get("/uplinks?limit=1000&cursor=" + cursor);
      assertThat(answer.http().body().length()).isLessThan(1_100_000);
      data = answer.json().get("data");
      data.forEach(uplink -> read.add(uplink.get("id").stringValue()));
      cursor = answer.json().get("next_cursor").stringValue();
    } while (!data.isEmpty());

    assertThat(read).isEqualTo(IntStream.range(0, 100).mapToObj(i -> "large-" + i).toList());
  }

  @Test
  void an_uplink_has_the_user_properties_that_its_device_gave() {
    String pairs = "[[\"b\",\"1\"],[\"a\",\"\"],[\"b\",\"2\"]]";
    // As an older worker writes it, and as this version's does.
    dispatcher.execute(
        "INSERT INTO uplinks (event_id, app_id, device_id, at, payload) VALUES (UUID(), ?, 'd1', NOW(3), 'p')",
        shop.app());
    dispatcher.execute(
        "INSERT INTO uplinks (event_id, app_id, device_id, at, payload, user_properties)"
            + " VALUES (UUID(), ?, 'd1', NOW(3), 'p', ?)",
        shop.app(),
        pairs);

    JsonNode read = shop.get("/uplinks").json();

    assertThat(read.at("/data/0").has("user_properties")).isFalse();
    assertThat(read.at("/data/1/user_properties").toString()).isEqualTo(pairs);
  }
}
