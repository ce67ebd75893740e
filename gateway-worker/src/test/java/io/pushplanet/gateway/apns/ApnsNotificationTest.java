package io.pushplanet.gateway.apns;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static io.pushplanet.common.testing.PushBuilder.withOverrides;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.LiveActivity.Event;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.PayloadSample;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.provider.RecentPayloads;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class ApnsNotificationTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final DeviceId DEVICE = new DeviceId("d1");
  private final MutableClock clock = MutableClock.started();
  private final RecentPayloads<ApnsPayload.MadeOf, ApnsPayload> payloads = new RecentPayloads<>();

  @Test
  void content_becomes_an_alert_with_data_beside_it() {
    Push push = aPush(clock).toApns("d1", "ab").build();

    ApnsNotification notification = alert(push);

    JsonNode payload = JSON.readTree(notification.payload());
    assertThat(payload.path("aps").path("alert").path("title").asString()).isEqualTo("Shipped");
    assertThat(payload.path("order").asString()).isEqualTo("77");
    assertThat(payload.path("id").asString()).isEqualTo(push.id().value());
    assertThat(headers(notification))
        .containsEntry("apns-topic", "com.example")
        .containsEntry("apns-push-type", "alert")
        .containsEntry("apns-priority", "10")
        .containsEntry("apns-expiration", Long.toString(push.expiresAt().getEpochSecond()))
        .containsEntry("apns-collapse-id", push.id().value());
  }

  /// They share a key and its connections.
  @Test
  void aioapns_52_each_app_of_a_team_has_its_topic() {
    Push push = aPush(clock).toApns("d1", "ab").build();

    for (String bundle : List.of("com.example.shop", "com.example.bank")) {
      assertThat(headers(ApnsNotification.of(push, DEVICE, ApnsPushType.ALERT, bundle, payloads)))
          .containsEntry("apns-topic", bundle);
    }
  }

  private Push activity(LiveActivity activity, Content content, Urgency urgency) {
    Push plain =
        aPush(clock)
            .saying(content)
            .delivered(
                new DeliveryOptions(
                    Route.VENDOR, Duration.ofHours(1), urgency, null, Duration.ofSeconds(5)))
            .build();
    return withOverrides(plain, Overrides.NONE.with(activity));
  }

  @Test
  void a_live_activity_starts_with_its_attributes_an_alert_and_a_topic_of_its_own() {
    LiveActivity start =
        new LiveActivity(
            Event.START,
            "ab",
            JSON.createObjectNode().put("minute", 1),
            "MatchAttributes",
            JSON.createObjectNode().put("home", "A"),
            clock.instant().plusSeconds(60),
            null,
            75.0);

    ApnsNotification notification =
        alert(activity(start, new Content("Kick-off", null, Map.of()), Urgency.HIGH));

    JsonNode aps = JSON.readTree(notification.payload()).path("aps");
    assertThat(aps.path("event").asString()).isEqualTo("start");
    assertThat(aps.path("timestamp").asLong()).isEqualTo(clock.instant().getEpochSecond());
    assertThat(aps.path("content-state").path("minute").asInt()).isEqualTo(1);
    assertThat(aps.path("attributes-type").asString()).isEqualTo("MatchAttributes");
    assertThat(aps.path("attributes").path("home").asString()).isEqualTo("A");
    assertThat(aps.path("stale-date").asLong())
        .isEqualTo(clock.instant().plusSeconds(60).getEpochSecond());
    assertThat(aps.path("relevance-score").asDouble()).isEqualTo(75.0);
    assertThat(aps.path("alert").path("title").asString()).isEqualTo("Kick-off");
    assertThat(headers(notification))
        .containsEntry("apns-topic", "com.example.push-type.liveactivity")
        .containsEntry("apns-push-type", "liveactivity")
        .containsEntry("apns-priority", "10")
        .doesNotContainKey("apns-collapse-id");
  }

  @Test
  void a_live_activity_ends_silently_and_leaves_the_screen_in_time() {
    LiveActivity end =
        new LiveActivity(
            Event.END,
            "ab",
            JSON.createObjectNode(),
            null,
            null,
            null,
            clock.instant().plusSeconds(9),
            null);

    ApnsNotification notification =
        alert(activity(end, new Content(null, null, Map.of("live_activity", "end")), Urgency.LOW));

    JsonNode payload = JSON.readTree(notification.payload());
    assertThat(payload.path("aps").path("event").asString()).isEqualTo("end");
    assertThat(payload.path("aps").path("dismissal-date").asLong())
        .isEqualTo(clock.instant().plusSeconds(9).getEpochSecond());
    assertThat(payload.path("aps").has("alert")).isFalse();
    assertThat(payload.has("live_activity")).isFalse();
    assertThat(headers(notification)).containsEntry("apns-priority", "5");
  }

  @Test
  void data_alone_is_a_background_push_of_priority_five() {
    Push push = aPush(clock).saying(new Content(null, null, Map.of("k", "v"))).build();

    ApnsNotification notification = alert(push);

    assertThat(headers(notification))
        .containsEntry("apns-push-type", "background")
        .containsEntry("apns-priority", "5")
        .containsEntry("apns-collapse-id", push.id().value());
    assertThat(JSON.readTree(notification.payload()).path("aps").path("content-available").asInt())
        .isEqualTo(1);
  }

  @Test
  void overrides_are_merged_into_aps_and_keep_the_alert() {
    ObjectNode aps = JSON.createObjectNode().put("interruption-level", "active").put("badge", 3);
    aps.putObject("alert").put("subtitle", "Order 77");
    Push push = withOverrides(aPush(clock).build(), new Overrides(aps, null, null, null));

    JsonNode merged = JSON.readTree(alert(push).payload()).path("aps");

    assertThat(merged.path("interruption-level").asString()).isEqualTo("active");
    assertThat(merged.path("alert").path("title").asString()).isEqualTo("Shipped");
    assertThat(merged.path("alert").path("subtitle").asString()).isEqualTo("Order 77");
  }

  @Test
  void no_ttl_means_one_attempt() {
    Push push = aPush(clock).delivered(options(Duration.ZERO, Urgency.NORMAL, null)).build();

    assertThat(headers(alert(push)))
        .containsEntry("apns-expiration", "0")
        .containsEntry("apns-priority", "5");
  }

  @Test
  void a_collapse_key_that_no_header_can_carry_is_hashed() {
    DeliveryOptions plain = options(Duration.ofHours(1), Urgency.HIGH, "order-77");
    DeliveryOptions foreign = options(Duration.ofHours(1), Urgency.HIGH, "주문 77");

    String kept = collapseId(plain);
    String hashed = collapseId(foreign);

    assertThat(kept).isEqualTo("order-77");
    assertThat(hashed).matches("[A-Za-z0-9_-]{43}").isEqualTo(collapseId(foreign));
  }

  @Test
  void every_try_of_one_message_to_one_device_has_the_same_id() {
    Push push = aPush(clock).build();

    String id = ApnsNotification.id(push.id(), DEVICE);

    assertThat(id)
        .isEqualTo(ApnsNotification.id(push.retried().id(), DEVICE))
        .isNotEqualTo(ApnsNotification.id(push.id(), new DeviceId("d2")))
        .isEqualTo(UUID.fromString(id).toString());
  }

  @Test
  void an_id_of_the_callers_own_is_not_lost() {
    Push push = aPush(clock).saying(new Content("t", null, Map.of("id", "mine"))).build();

    JsonNode payload = JSON.readTree(alert(push).payload());

    assertThat(payload.path("id").asString()).isEqualTo("mine");
    assertThat(payload.path("pushplanet_id").asString()).isEqualTo(push.id().value());
  }

  @Test
  void a_payload_is_written_once_for_the_devices_of_a_message() {
    Push push = aPush(clock).toApns("d1", "ab").build();

    byte[] first = alert(push).payload();

    assertThat(alert(push.to(List.of())).payload()).isSameAs(first);
    assertThat(text(alert(push, ApnsPushType.WIDGETS))).isNotEqualTo(text(alert(push)));
    ObjectNode badge = JSON.createObjectNode().put("badge", 3);
    assertThat(text(alert(withOverrides(push, new Overrides(badge, null, null, null)))))
        .contains("\"badge\":3");
    for (int message = 0; message < 200; message++) {
      Push other = aPush(clock).build();
      assertThat(text(alert(other))).contains(other.id().value());
    }
  }

  private ApnsNotification alert(Push push) {
    return alert(push, ApnsPushType.ALERT);
  }

  private ApnsNotification alert(Push push, ApnsPushType type) {
    return ApnsNotification.of(push, DEVICE, type, "com.example", payloads);
  }

  private static String text(ApnsNotification notification) {
    return new String(notification.payload(), StandardCharsets.UTF_8);
  }

  private String collapseId(DeliveryOptions options) {
    return headers(alert(aPush(clock).delivered(options).build()))
        .getOrDefault("apns-collapse-id", "");
  }

  private static DeliveryOptions options(
      Duration ttl, Urgency urgency, @Nullable String collapseKey) {
    return new DeliveryOptions(Route.AUTO, ttl, urgency, collapseKey, Duration.ofSeconds(5));
  }

  private static Map<String, String> headers(ApnsNotification notification) {
    return notification.headers().stream().collect(Collectors.toMap(Field::name, Field::value));
  }

  @ParameterizedTest
  @EnumSource
  void a_payload_is_as_long_as_its_sample(PayloadSample sample) {
    assertThat(alert(sample.push()).payload()).hasSize(sample.apnsBytes());
  }
}
