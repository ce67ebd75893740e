package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A device that is registered: its tags and topics, its changes and its deletion.
class DeviceIT {
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
  void a_patch_changes_what_it_names_and_null_removes() {
    shop.put("/devices/d1", RegistrationIT.FULL);

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
  void a_deleted_device_is_gone_at_once() {
    shop.device("d1", "{\"mqtt\":true}");
    String send = "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}";
    assertThat(shop.post("/messages", send).status()).isEqualTo(202);

    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

    assertThat(shop.get("/devices/d1").status()).isEqualTo(404);
    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(404);
    assertThat(shop.post("/messages", send).status()).isEqualTo(404);
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
  void a_deletion_reads_no_list_of_other_devices() {
    int lists = 1_000;
    shop.device("d1", "{\"mqtt\":true}");
    dispatcher.inDatabase(connection -> {
      connection.setAutoCommit(false);
      try (PreparedStatement rows =
          connection.prepareStatement(
              "INSERT INTO broadcast_devices (app_id, seq, message_id, parked_at, expires_at, first_device, last_device, devices)"
                  + " VALUES (?, ?, UUID(), NOW(3), NOW(3), 'e', 'f', REPEAT('e ', 9000))")) {
        for (int seq = 1; seq <= lists; seq++) {
          rows.setString(1, shop.app());
          rows.setInt(2, seq);
          rows.addBatch();
        }
        rows.executeBatch();
      }
      connection.commit();
    });
    long before = pagesRead();

    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

    assertThat(pagesRead() - before).isLessThan(lists);
  }

  private long pagesRead() {
    long[] pages = new long[1];
    dispatcher.inDatabase(connection -> {
      try (PreparedStatement status =
          connection.prepareStatement(
              "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read_requests'")) {
        ResultSet row = status.executeQuery();
        assertThat(row.next()).isTrue();
        pages[0] = row.getLong("Value");
      }
    });
    return pages[0];
  }
}
