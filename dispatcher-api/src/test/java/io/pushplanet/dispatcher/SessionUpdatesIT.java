package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.LastSeen;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Reports that a device is alive.
class SessionUpdatesIT {
  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

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
    shop.put("/devices/d1", RegistrationIT.FULL);
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
    shop.put("/devices/d1", RegistrationIT.FULL);

    for (String zone : List.of("Asia/Tokyo", "Europe/Paris", "Asia/Seoul", "UTC")) {
      shop.put("/devices/d1/session", "{\"timezone\":\"" + zone + "\"}");
      Answer patched = shop.call("PATCH", "/devices/d1", "{\"tags\":[\"" + zone + "\"]}");

      assertThat(patched.status()).as(patched.toString()).isEqualTo(200);
      assertThat(patched.json().get("timezone").stringValue()).isEqualTo(zone);
      assertThat(shop.get("/devices/d1").json().get("timezone").stringValue()).isEqualTo(zone);
    }
  }

  /// The device is alive again before the update with its values has reached MySQL.
  @Test
  void an_update_brings_no_value_back_that_a_registration_replaced() {
    for (String device : List.of("put", "patched")) {
      shop.put("/devices/" + device, registration("de"));
    }

    whileNothingIsWritten(() -> {
      for (String device : List.of("put", "patched")) {
        shop.put("/devices/" + device + "/session", "{\"app_version\":\"7\",\"locale\":\"fr\"}");
      }
      shop.put("/devices/put", registration("en"));
      shop.call("PATCH", "/devices/patched", "{\"locale\":null}");
      for (String device : List.of("put", "patched")) {
        shop.put("/devices/" + device + "/session", "{\"timezone\":\"Asia/Tokyo\"}");
      }

      assertThat(shop.get("/devices/put").json().at("/locale").asString("none")).isEqualTo("en");
      assertThat(shop.get("/devices/patched").json().at("/locale").asString("none"))
          .isEqualTo("none");
    });

    Eventually.within(
        Duration.ofSeconds(60),
        () -> assertThat(written()).containsExactly("patched none 7", "put en none"));
  }

  /// The older dispatcher knows no times of values, and a newer one joins its entry to an update.
  @Test
  void an_update_keeps_the_values_of_an_older_dispatcher() {
    shop.put("/devices/d1", registration("de"));
    long later = System.currentTimeMillis();

    whileNothingIsWritten(() -> {
      redis().hset(LastSeen.PENDING, shop.app() + "/d1", later + "\n7\nfr\n");
      shop.put("/devices/d1/session", "{\"timezone\":\"Asia/Tokyo\"}");

      assertThat(redis().hget(LastSeen.PENDING, shop.app() + "/d1"))
          .matches("\\d+\n7\nfr\nAsia/Tokyo\n" + later + "\n" + later + "\n\\d+");
    });

    Eventually.within(
        Duration.ofSeconds(60), () -> assertThat(written()).containsExactly("d1 fr 7"));
  }

  private static String registration(String locale) {
    return "{\"platform\":\"android\",\"channels\":{\"mqtt\":true},\"locale\":\"" + locale + "\"}";
  }

  private RedisCommands<String, String> redis() {
    return dispatcher.context.getBean(RedisLink.class).connection().sync();
  }

  /// Runs a step as if another process were writing the pending updates.
  private void whileNothingIsWritten(Runnable step) {
    Eventually.within(
        Duration.ofSeconds(60),
        () ->
            assertThat(redis().set("sessions:lock", "test", SetArgs.Builder.nx())).isEqualTo("OK"));
    try {
      step.run();
    } finally {
      redis().del("sessions:lock");
    }
  }

  /// The devices in MySQL that are in Tokyo by now, with their locale and version.
  private List<String> written() {
    return dispatcher.texts(
        "SELECT CONCAT_WS(' ', device_id, COALESCE(locale, 'none'), COALESCE(app_version, 'none'))"
            + " FROM devices WHERE app_id = ? AND timezone = 'Asia/Tokyo' ORDER BY device_id",
        shop.app());
  }
}
