package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.sql.PreparedStatement;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class ActivityChannelIT {
  private static final String CHANNELS = "/live-activity-channels";
  private static final String UPDATE =
      "{\"audience\":{\"channel\":\"%s\"},\"live_activity\":{\"event\":\"update\",\"content_state\":{\"minute\":90}},\"delivery\":{\"priority\":\"normal\"}}";

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  private String asked(String body) {
    Answer answer = shop.post(CHANNELS, body);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    return answer.json().get("channel").stringValue();
  }

  /// Does what a worker does.
  private void made(String channel, String apple) {
    dispatcher.inDatabase(connection -> {
      try (PreparedStatement made =
          connection.prepareStatement(
              "UPDATE live_activity_channels SET state = 'ready', apns_id = ?, ready_at ="
                  + " created_at, due_at = NULL WHERE channel_id = ?")) {
        made.setString(1, apple);
        made.setString(2, channel);
        made.executeUpdate();
      }
    });
  }

  private static String code(Answer answer) {
    return answer.json().get("code").stringValue();
  }

  @Test
  void a_channel_is_pending_until_apple_has_it() {
    Answer asked = shop.post(CHANNELS, "{\"environment\":\"sandbox\",\"keeps\":\"none\"}");
    String channel = asked.json().get("channel").stringValue();

    assertThat(asked.status()).isEqualTo(202);
    assertThat(asked.header("Location"))
        .isEqualTo("/v1/apps/" + shop.app() + CHANNELS + "/" + channel);
    assertThatObject(shop.get(CHANNELS + "/" + channel).json())
        .returns("pending", it -> it.path("state").asString())
        .returns("sandbox", it -> it.path("environment").asString())
        .returns("none", it -> it.path("keeps").asString())
        .returns(false, it -> it.has("apns_channel_id"));
    Answer early = shop.post("/messages", UPDATE.formatted(channel));
    assertThat(early.status()).isEqualTo(409);
    assertThat(code(early)).isEqualTo("channel_not_ready");

    made(channel, "c29tZUNoYW5uZWw=");

    assertThatObject(shop.get(CHANNELS + "/" + channel).json())
        .returns("ready", it -> it.path("state").asString())
        .returns("c29tZUNoYW5uZWw=", it -> it.path("apns_channel_id").asString());
  }

  @Test
  void a_message_over_a_channel_has_one_recipient_which_is_the_channel() {
    String channel = asked("{}");
    made(channel, "c29tZUNoYW5uZWw=");
    dispatcher.drain("push.apns.normal");
    dispatcher.drain("push.accepted");

    Answer answer = shop.post("/messages", UPDATE.formatted(channel));

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    assertThat(answer.json().at("/recipients/estimate").intValue()).isEqualTo(1);
    List<JsonNode> pushes = dispatcher.drain("push.apns.normal");
    assertThat(pushes).hasSize(1);
    assertThatObject(pushes.getFirst())
        .returns(channel, it -> it.at("/recipients/0/device").asString())
        .returns("production", it -> it.at("/recipients/0/apns/environment").asString())
        .returns("c29tZUNoYW5uZWw=", it -> it.at("/overrides/live_activity/channel/id").asString())
        .returns(true, it -> it.at("/overrides/live_activity/channel/keeps_newest").asBoolean());
    List<JsonNode> events = dispatcher.drain("push.accepted");
    assertThat(events).hasSize(1);
    assertThat(events.getFirst().at("/recipients/0").asString()).isEqualTo(channel);
    String id = answer.json().get("id").stringValue();
    assertThat(shop.get("/messages/" + id).json().at("/audience/channel").asString())
        .isEqualTo(channel);
    assertThat(shop.get("/messages/" + id + "/deliveries").json().at("/data/0/device").asString())
        .isEqualTo(channel);
  }

  @Test
  void channels_are_listed_in_pages_and_each_app_sees_its_own() {
    List<String> made = List.of(asked("{}"), asked("{}"), asked("{}"));

    Answer first = shop.get(CHANNELS + "?limit=2");
    Answer second =
        shop.get(CHANNELS + "?limit=2&cursor=" + first.json().get("next_cursor").stringValue());

    List<String> listed =
        List.of(
            first.json().at("/data/0/channel").asString(),
            first.json().at("/data/1/channel").asString(),
            second.json().at("/data/0/channel").asString());
    assertThat(listed).isSorted().containsExactlyInAnyOrderElementsOf(made);
    assertThat(second.json().get("next_cursor").isNull()).isTrue();
    Answer deliveries =
        shop.get(
            "/messages/0192e0f0-0000-7000-8000-000000000001/deliveries?cursor="
                + first.json().get("next_cursor").stringValue());
    assertThat(deliveries.status()).as(deliveries.toString()).isEqualTo(422);
    assertThat(deliveries.json().at("/errors/0/code").stringValue()).isEqualTo("not_a_cursor");
    Tenant other = dispatcher.tenant();
    assertThat(other.get(CHANNELS).json().get("data")).isEmpty();
    assertThat(other.get(CHANNELS + "/" + made.getFirst()).status()).isEqualTo(404);
    assertThat(other.call("DELETE", CHANNELS + "/" + made.getFirst(), "").status()).isEqualTo(404);
    assertThat(code(other.post("/messages", UPDATE.formatted(made.getFirst()))))
        .isEqualTo("channel_not_found");
  }

  @Test
  void a_deleted_channel_takes_no_message_though_apple_still_has_it() {
    String channel = asked("{}");
    made(channel, "c29tZUNoYW5uZWw=");

    Answer deleted = shop.call("DELETE", CHANNELS + "/" + channel, "");

    assertThat(deleted.status()).isEqualTo(202);
    assertThat(shop.get(CHANNELS + "/" + channel).json().get("state").stringValue())
        .isEqualTo("deleting");
    assertThat(code(shop.post("/messages", UPDATE.formatted(channel))))
        .isEqualTo("channel_not_ready");
  }

  @Test
  void a_channel_that_apple_has_lost_takes_no_message_and_says_why() {
    String channel = asked("{}");
    made(channel, "bG9zdENoYW5uZWw=");
    dispatcher.inDatabase(connection -> {
      try (PreparedStatement lost =
          connection.prepareStatement(
              "UPDATE live_activity_channels SET state = 'failed', reason ="
                  + " 'ChannelNotRegistered' WHERE channel_id = ?")) {
        lost.setString(1, channel);
        lost.executeUpdate();
      }
    });

    Answer refused = shop.post("/messages", UPDATE.formatted(channel));

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.toString()).contains("is failed (ChannelNotRegistered), not ready");
    assertThat(shop.get(CHANNELS + "/" + channel).json().get("reason").stringValue())
        .isEqualTo("ChannelNotRegistered");
  }

  @Test
  void an_idempotency_key_makes_one_channel() {
    Answer first = shop.post(CHANNELS, "{}", "Idempotency-Key", "match-77");
    Answer again = shop.post(CHANNELS, "{}", "Idempotency-Key", "match-77");

    assertThat(again.json()).isEqualTo(first.json());
    assertThat(again.header("Idempotency-Replayed")).isEqualTo("true");
    assertThat(shop.get(CHANNELS).json().get("data")).hasSize(1);
  }

  @Test
  void requests_that_apple_would_refuse_get_a_422() {
    Answer fields =
        shop.post(CHANNELS, "{\"environment\":\"test\",\"keeps\":\"all\",\"name\":\"x\"}");
    assertThat(fields.status()).isEqualTo(422);
    assertThat(fields.json().get("errors")).hasSize(3);
    dispatcher.inDatabase(connection -> {
      try (PreparedStatement many =
          connection.prepareStatement(
              """
              INSERT INTO live_activity_channels (app_id, channel_id, environment, keeps, state, created_at)
              SELECT ?, CONCAT('channel-', a.n + 10 * b.n + 100 * c.n + 1000 * d.n), 'sandbox', 'none', 'ready', NOW()
              FROM (%1$s) a, (%1$s) b, (%1$s) c, (%1$s) d
              """
                  .formatted(
                      "SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL"
                          + " SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7"
                          + " UNION ALL SELECT 8 UNION ALL SELECT 9"))) {
        many.setString(1, shop.app());
        many.executeUpdate();
      }
    });

    Answer tooMany = shop.post(CHANNELS, "{\"environment\":\"sandbox\"}");

    assertThat(tooMany.status()).isEqualTo(409);
    assertThat(code(tooMany)).isEqualTo("too_many_channels");
    assertThat(shop.post(CHANNELS, "{\"environment\":\"production\"}").status()).isEqualTo(202);
  }
}
