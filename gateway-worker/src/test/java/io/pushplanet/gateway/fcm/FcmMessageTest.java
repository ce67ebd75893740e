package io.pushplanet.gateway.fcm;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.PayloadSample;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.gateway.provider.RecentPayloads;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class FcmMessageTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private final MutableClock clock = MutableClock.started();
  private final FcmToken token = new FcmToken("t1", "token", clock.instant());

  @Test
  void a_message_has_notification_data_and_the_time_that_is_left() {
    DeliveryOptions options =
        new DeliveryOptions(
            Route.AUTO, Duration.ofHours(1), Urgency.HIGH, "order-77", Duration.ofSeconds(5));
    Push push = aPush(clock).delivered(options).build();
    clock.advance(Duration.ofMinutes(10));

    JsonNode message = message(push, token);

    assertThat(message.path("token").asString()).isEqualTo("t1");
    assertThat(message.path("notification").path("title").asString()).isEqualTo("Shipped");
    assertThat(message.path("data").path("id").asString()).isEqualTo(push.id().value());
    assertThat(message.path("android").path("ttl").asString()).isEqualTo("3000s");
    assertThat(message.path("android").path("priority").asString()).isEqualTo("HIGH");
    assertThat(message.path("android").path("collapse_key").asString()).isEqualTo("order-77");
    assertThat(message.path("android").path("notification").path("tag").asString())
        .isEqualTo("order-77");
    assertThat(message.path("apns").path("headers").path("apns-expiration").asString())
        .isEqualTo(Long.toString(push.expiresAt().getEpochSecond()));
    assertThat(message.path("webpush").path("headers").path("TTL").asString()).isEqualTo("3000");
    assertThat(message.path("apns").has("payload")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"HIGH, 10, high", "NORMAL, 5, normal", "LOW, 1, low"})
  void phones_of_apples_and_browsers_learn_the_priority(
      Urgency urgency, String toApple, String toBrowsers) {
    DeliveryOptions options =
        new DeliveryOptions(Route.AUTO, Duration.ofHours(1), urgency, null, Duration.ofSeconds(5));

    JsonNode message = message(aPush(clock).delivered(options).build(), token);

    assertThat(message.at("/apns/headers/apns-priority").asString()).isEqualTo(toApple);
    assertThat(message.at("/webpush/headers/Urgency").asString()).isEqualTo(toBrowsers);
  }

  @Test
  void an_override_leaves_the_id_by_which_the_app_knows_a_repeat() {
    Push push = aPush(clock).build();

    JsonNode own = message(overridden(push, "{\"data\":{\"id\":\"42\"}}"), token);
    JsonNode none = message(overridden(push, "{\"data\":null}"), token);

    assertThat(own.at("/data/id").asString()).isEqualTo("42");
    assertThat(own.at("/data/pushplanet_id").asString()).isEqualTo(push.id().value());
    assertThat(none.at("/data/id").asString()).isEqualTo(push.id().value());
  }

  /// firebase/firebase-admin-node#1248: a 503 of what was delivered, and a second copy by the
  /// retry.
  @Test
  void firebase_admin_node_1248_a_repeat_replaces_the_first_on_each_kind_of_device() {
    Push push = aPush(clock).build();

    JsonNode message = message(push, token);

    String id = push.id().value();
    assertThat(message.path("android").path("notification").path("tag").asString()).isEqualTo(id);
    assertThat(message.path("apns").path("headers").path("apns-collapse-id").asString())
        .isEqualTo(id);
    assertThat(message.path("webpush").path("notification").path("tag").asString()).isEqualTo(id);
  }

  @Test
  void a_collapse_key_that_is_no_header_is_told_to_apple_by_its_digest() {
    DeliveryOptions options =
        new DeliveryOptions(
            Route.AUTO, Duration.ofHours(1), Urgency.HIGH, "Zürich 1", Duration.ofSeconds(5));

    JsonNode message = message(aPush(clock).delivered(options).build(), token);

    assertThat(message.path("apns").path("headers").path("apns-collapse-id").asString())
        .matches("[A-Za-z0-9_-]{43}");
    assertThat(message.path("webpush").path("notification").path("tag").asString())
        .isEqualTo("Zürich 1");
  }

  @Test
  void now_or_never_is_said_to_each_kind_of_device() {
    DeliveryOptions nowOrNever =
        new DeliveryOptions(Route.AUTO, Duration.ZERO, Urgency.HIGH, null, Duration.ofSeconds(5));

    JsonNode message = message(aPush(clock).delivered(nowOrNever).build(), token);

    assertThat(message.path("android").path("ttl").asString()).isEqualTo("0s");
    assertThat(message.path("apns").path("headers").path("apns-expiration").asString())
        .isEqualTo("0");
    assertThat(message.path("webpush").path("headers").path("TTL").asString()).isEqualTo("0");
  }

  @Test
  void an_installation_id_goes_into_its_own_field() {
    JsonNode message = message(aPush(clock).build(), new FcmToken("f1", "fid", clock.instant()));

    assertThat(message.path("fid").asString()).isEqualTo("f1");
    assertThat(message.has("token")).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {"topic, news", "condition, 'news' in topics && !('muted' in topics)"})
  void topics_are_named_in_their_own_field(String kind, String text) {
    JsonNode message = message(aPush(clock).build(), new FcmToken(text, kind, Instant.EPOCH));

    assertThat(message.path(kind).asString()).isEqualTo(text);
    assertThat(message.has("token")).isFalse();
  }

  @Test
  void data_alone_shows_nothing() {
    Push push = aPush(clock).saying(new Content(null, null, Map.of("k", "v"))).build();

    JsonNode message = message(push, token);

    assertThat(message.has("notification")).isFalse();
    assertThat(message.path("android").has("notification")).isFalse();
    assertThat(message.path("webpush").has("notification")).isFalse();
  }

  /// Apple hands data to an app that is not open only as a background notification.
  @Test
  void data_alone_wakes_the_app_of_an_iphone() {
    Push push = aPush(clock).saying(new Content(null, null, Map.of("k", "v"))).build();

    JsonNode apns = message(push, token).path("apns");

    assertThat(apns.at("/payload/aps/content-available").asInt()).isEqualTo(1);
    assertThat(apns.at("/headers/apns-priority").asString()).isEqualTo("5");
  }

  @Test
  void a_repeat_of_data_alone_is_known_by_its_id_and_uses_up_no_collapse_key() {
    Push push = aPush(clock).saying(new Content(null, null, Map.of("k", "v"))).build();

    JsonNode message = message(push, token);

    assertThat(message.path("data").path("id").asString()).isEqualTo(push.id().value());
    assertThat(message.path("apns").path("headers").path("apns-collapse-id").asString())
        .isEqualTo(push.id().value());
    assertThat(message.path("android").has("collapse_key")).isFalse();
  }

  @Test
  void overrides_are_merged_deeply_but_cannot_name_another_device() {
    ObjectNode fcm = JSON.createObjectNode().put("token", "another").put("topic", "all");
    fcm.putObject("android").putObject("notification").put("channel_id", "orders");
    Push plain = aPush(clock).build();
    Push push = PushBuilder.withOverrides(plain, new Overrides(null, fcm, null, null));

    JsonNode message = message(push, token);

    assertThat(message.path("token").asString()).isEqualTo("t1");
    assertThat(message.has("topic")).isFalse();
    assertThat(message.path("android").path("notification").path("channel_id").asString())
        .isEqualTo("orders");
    assertThat(message.path("android").path("ttl").asString()).endsWith("s");
  }

  @Test
  void a_message_is_written_once_for_its_devices_and_again_when_a_second_has_passed() {
    RecentPayloads<FcmMessage.MadeOf, FcmMessage> recent = new RecentPayloads<>();
    Push push = aPush(clock).build();

    FcmMessage first = FcmMessage.of(push, clock.instant(), recent);
    clock.advance(Duration.ofMillis(1));
    FcmMessage second = FcmMessage.of(push, clock.instant(), recent);
    clock.advance(Duration.ofSeconds(1));
    FcmMessage later = FcmMessage.of(push, clock.instant(), recent);

    assertThat(FcmMessage.of(push, clock.instant(), recent)).isSameAs(later);
    assertThat(second).isNotSameAs(first);
    assertThat(later).isNotSameAs(second);
    assertThat(JSON.readTree(second.to(token)).at("/message/android/ttl"))
        .isNotEqualTo(JSON.readTree(later.to(token)).at("/message/android/ttl"));
  }

  @Test
  void a_token_of_any_characters_stays_one_json_text() {
    String strange = "a\",\"topic\":\"all\u00e9\u0001";

    JsonNode message =
        message(aPush(clock).build(), new FcmToken(strange, "token", clock.instant()));

    assertThat(message.path("token").asString()).isEqualTo(strange);
    assertThat(message.has("topic")).isFalse();
  }

  private static Push overridden(Push push, String fcm) {
    return PushBuilder.withOverrides(
        push, new Overrides(null, (ObjectNode) JSON.readTree(fcm), null, null));
  }

  private JsonNode message(Push push, FcmToken to) {
    return JSON.readTree(FcmMessage.of(push, clock.instant()).to(to)).path("message");
  }

  @ParameterizedTest
  @EnumSource
  void what_fcm_counts_is_as_long_as_its_sample(PayloadSample sample) {
    Push push = sample.push();
    ObjectNode message =
        (ObjectNode) JSON.readTree(FcmMessage.of(push, push.acceptedAt()).untargeted());

    message.retain(List.of("notification", "data"));

    assertThat(JSON.writeValueAsBytes(message)).hasSize(sample.fcmBytes());
  }
}
