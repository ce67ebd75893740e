package io.pushplanet.gateway.webpush;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class WebPushMessageTest {
  private final MutableClock clock = MutableClock.started();

  private Push push(Duration ttl, Urgency urgency, String collapseKey) {
    return aPush(clock)
        .toWebPush("d1", "{}")
        .delivered(
            new DeliveryOptions(Route.AUTO, ttl, urgency, collapseKey, Duration.ofSeconds(5)))
        .build();
  }

  private static String header(Push push, Instant now, String name) {
    return WebPushMessage.of(push, now).headers().stream()
        .filter(field -> field.name().equals(name))
        .map(Field::value)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void ttl_is_the_remaining_time_and_urgency_the_priority() {
    Push push = push(Duration.ofHours(6), Urgency.NORMAL, "k");
    Instant later = clock.instant().plus(Duration.ofHours(1));

    assertThat(header(push, later, "ttl")).isEqualTo("18000");
    assertThat(header(push, later, "urgency")).isEqualTo("normal");
    assertThat(header(push(Duration.ZERO, Urgency.HIGH, "k"), clock.instant(), "ttl"))
        .isEqualTo("0");
    assertThat(header(push(Duration.ZERO, Urgency.HIGH, "k"), clock.instant(), "urgency"))
        .isEqualTo("high");
    assertThat(header(push(Duration.ZERO, Urgency.LOW, "k"), clock.instant(), "urgency"))
        .isEqualTo("low");
  }

  @Test
  void a_key_that_is_a_topic_stays_as_it_is() {
    assertThat(WebPushMessage.topic(push(Duration.ofHours(1), Urgency.HIGH, "order-77_A")))
        .isEqualTo("order-77_A");
  }

  @ParameterizedTest
  @ValueSource(strings = {"order 77", "주문-77", "a.b", "123456789012345678901234567890123"})
  void a_key_that_is_no_topic_becomes_the_same_topic_each_time(String key) {
    String topic = WebPushMessage.topic(push(Duration.ofHours(1), Urgency.HIGH, key));

    assertThat(topic).matches("[A-Za-z0-9_-]{32}");
    assertThat(WebPushMessage.topic(push(Duration.ofHours(1), Urgency.HIGH, key))).isEqualTo(topic);
    assertThat(WebPushMessage.topic(push(Duration.ofHours(1), Urgency.HIGH, key + "!")))
        .isNotEqualTo(topic);
  }

  @Test
  void without_a_key_a_repeat_replaces_the_first() {
    Push push = aPush(clock).toWebPush("d1", "{}").build();

    assertThat(WebPushMessage.topic(push))
        .isEqualTo(push.id().value().replace("-", ""))
        .hasSize(32);
    assertThat(WebPushMessage.topic(push.retried())).isEqualTo(WebPushMessage.topic(push));
  }

  @Test
  void the_service_worker_gets_what_a_device_gets_with_the_callers_overrides() {
    Push plain = aPush(clock).toWebPush("d1", "{}").build();
    ObjectNode overrides =
        (ObjectNode)
            JsonMapper.shared()
                .readTree("{\"id\":\"42\",\"title\":\"Web\",\"data\":{\"url\":\"/o/77\"}}");
    Push push = PushBuilder.withOverrides(plain, new Overrides(null, null, overrides, null));

    JsonNode text = JsonMapper.shared().readTree(WebPushMessage.of(push, clock.instant()).text());

    assertThat(text.path("id").asString()).isEqualTo(plain.id().value());
    assertThat(text.path("title").asString()).isEqualTo("Web");
    assertThat(text.path("body").asString()).isEqualTo("Order 77 is on its way");
    assertThat(text.path("data").path("order").asString()).isEqualTo("77");
    assertThat(text.path("data").path("url").asString()).isEqualTo("/o/77");
  }
}
