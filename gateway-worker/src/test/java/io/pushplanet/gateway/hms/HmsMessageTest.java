package io.pushplanet.gateway.hms;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.PayloadSample;
import io.pushplanet.common.testing.PushBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class HmsMessageTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private final MutableClock clock = MutableClock.started();

  @Test
  void a_message_has_a_notification_data_in_a_text_and_the_time_that_is_left() {
    Push push = aPush(clock).delivered(options(Duration.ofHours(1), "order-77")).build();
    clock.advance(Duration.ofMinutes(10));

    JsonNode message = message(push, true, "t1", "t2");

    assertThat(message.path("token").valueStream().map(JsonNode::asString))
        .containsExactly("t1", "t2");
    assertThat(message.at("/notification/title").asString()).isEqualTo("Shipped");
    JsonNode data = JSON.readTree(message.path("data").asString());
    assertThat(data.path("order").asString()).isEqualTo("77");
    assertThat(data.path("id").asString()).isEqualTo(push.id().value());
    assertThat(message.at("/android/ttl").asString()).isEqualTo("3000s");
    assertThat(message.at("/android/urgency").asString()).isEqualTo("HIGH");
    assertThat(message.at("/android/bi_tag").asString()).isEqualTo(push.id().value());
    assertThat(message.at("/android/notification/tag").asString()).isEqualTo("order-77");
    assertThat(message.at("/android/notification/click_action/type").asInt()).isEqualTo(3);
    assertThat(message(push, false, "t1").at("/android/urgency").asString()).isEqualTo("NORMAL");
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "100, 100", "101, -1", "0, -1", "-1, -1", "007, -1", "order-77, -1"})
  void only_a_collapse_key_that_is_a_groups_number_is_a_group(String key, int group) {
    Push push = aPush(clock).delivered(options(Duration.ofHours(1), key)).build();

    assertThat(message(push, false, "t").at("/android/collapse_key").asInt()).isEqualTo(group);
  }

  @ParameterizedTest
  @CsvSource({"PT0S, 1s", "PT0.5S, 1s", "P15D, 1296000s", "P28D, 1296000s"})
  void a_ttl_is_one_that_push_kit_takes(Duration ttl, String written) {
    Push push = aPush(clock).delivered(options(ttl, null)).build();

    assertThat(message(push, false, "t").at("/android/ttl").asString()).isEqualTo(written);
  }

  @Test
  void data_alone_shows_nothing_and_keeps_the_callers_id() {
    Push push = aPush(clock).saying(new Content(null, null, Map.of("id", "7"))).build();

    JsonNode message = message(push, false, "t");

    assertThat(message.has("notification")).isFalse();
    assertThat(message.at("/android").has("notification")).isFalse();
    assertThat(JSON.readTree(message.path("data").asString()).path("id").asString()).isEqualTo("7");
  }

  @Test
  void a_notification_without_a_title_or_body_gets_the_other_text() {
    Push push = aPush(clock).saying(new Content("Shipped", null, Map.of())).build();

    assertThat(message(push, false, "t").at("/notification/body").asString()).isEqualTo("Shipped");
  }

  @Test
  void overrides_are_merged_deeply_but_cannot_name_another_device() {
    ObjectNode hms = JSON.createObjectNode().put("topic", "all");
    hms.putArray("token").add("another");
    hms.putObject("android").put("category", "EXPRESS").put("collapse_key", 5);
    Push plain = aPush(clock).build();
    Push push = PushBuilder.withOverrides(plain, new Overrides(null, null, null, hms));

    JsonNode message = message(push, false, "t1");

    assertThat(message.path("token").valueStream().map(JsonNode::asString)).containsExactly("t1");
    assertThat(message.has("topic")).isFalse();
    assertThat(message.at("/android/category").asString()).isEqualTo("EXPRESS");
    assertThat(message.at("/android/collapse_key").asInt()).isEqualTo(5);
    assertThat(message.at("/android/bi_tag").asString()).isEqualTo(push.id().value());
  }

  private static DeliveryOptions options(
      Duration ttl, @org.jspecify.annotations.Nullable String collapseKey) {
    return new DeliveryOptions(Route.AUTO, ttl, Urgency.HIGH, collapseKey, Duration.ofSeconds(5));
  }

  private JsonNode message(Push push, boolean urgent, String... tokens) {
    return JSON.readTree(HmsMessage.of(push, List.of(tokens), urgent, clock.instant()))
        .path("message");
  }

  @ParameterizedTest
  @EnumSource
  void a_message_without_tokens_is_as_long_as_its_sample(PayloadSample sample) {
    Push push = sample.push();

    assertThat(HmsMessage.of(push, List.of(), false, push.acceptedAt())).hasSize(sample.hmsBytes());
  }
}
