package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionNotice;
import io.pushplanet.common.session.SessionNotices;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// A device that changes its user.
class UserChangeIT {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  /// Otherwise the node would repeat unacknowledged messages of the former user, and deliver those
  /// that it has read from the inbox.
  @Test
  void with_its_user_a_device_loses_its_mqtt_session_wherever_it_is() throws Exception {
    RedisCommands<String, String> redis =
        dispatcher.context.getBean(RedisLink.class).connection().sync();
    var told = new LinkedBlockingQueue<SessionNotice>();
    var listening = new CountDownLatch(1);
    var node = new NodeId("node-of-" + shop.app());
    try (SessionNotices _ =
        SessionNotices.listen(
            dispatcher.context.getBean(RedisClient.class), node, told::add, listening::countDown)) {
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

  /// The device cannot connect to fetch it, and a message that is sent now goes to its vendor.
  @Test
  void a_message_that_waits_for_a_device_ends_when_it_leaves_mqtt() {
    assertThat(shop.put("/devices/d1", ofNobody()).status()).isEqualTo(201);
    waits("7", null, "{\"kind\":\"devices\",\"devices\":[\"d1\"]}");
    dispatcher.drain("push.events");

    assertThat(
            shop.put(
                    "/devices/d1",
                    "{\"platform\":\"android\",\"channels\":{\"fcm\":{\"token\":\"t7\"}}}")
                .status())
        .isEqualTo(200);

    assertThat(waiting()).isEmpty();
    assertThat(ended()).containsExactly(messageId("7") + " failed no_channel");
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
      Eventually.within(PATIENCE, () -> assertThat(dispatcher.transactionWaits()).isTrue());
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
      Eventually.within(PATIENCE, () -> assertThat(dispatcher.transactionWaits()).isTrue());
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
}
