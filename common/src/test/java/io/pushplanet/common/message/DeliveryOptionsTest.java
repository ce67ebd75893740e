package io.pushplanet.common.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.pushplanet.common.wire.WireForm;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class DeliveryOptionsTest {
  @Test
  void a_time_to_live_is_between_now_and_28_days() {
    assertThat(options(Duration.ZERO, null).ttl()).isZero();
    assertThat(options(Duration.ofDays(28), null).ttl()).isEqualTo(Duration.ofDays(28));
    assertThatIllegalArgumentException().isThrownBy(() -> options(Duration.ofSeconds(-1), null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options(Duration.ofDays(28).plusMillis(1), null));
  }

  @Test
  void a_collapse_key_is_measured_in_bytes() {
    assertThat(options(Duration.ZERO, "k".repeat(64)).collapseKey()).hasSize(64);
    assertThatIllegalArgumentException().isThrownBy(() -> options(Duration.ZERO, "é".repeat(33)));
    assertThatIllegalArgumentException().isThrownBy(() -> options(Duration.ZERO, ""));
  }

  @Test
  void the_requested_priority_travels_as_the_urgency() {
    for (Urgency urgency : Urgency.values()) {
      DeliveryOptions options =
          new DeliveryOptions(Route.AUTO, Duration.ZERO, urgency, null, Duration.ZERO);

      JsonNode json = WireForm.mapper().valueToTree(options);

      assertThat(json.path("priority").asString())
          .isEqualTo(urgency.name().toLowerCase(Locale.ROOT));
      assertThat(json.has("urgency")).isFalse();
      assertThat(WireForm.mapper().treeToValue(json, DeliveryOptions.class)).isEqualTo(options);
    }
  }

  @Test
  void a_less_urgent_message_waits_behind_an_urgent_one() {
    assertThat(Urgency.HIGH.priority()).isEqualTo(Priority.HIGH);
    assertThat(Urgency.NORMAL.priority()).isEqualTo(Priority.NORMAL);
    assertThat(Urgency.LOW.priority()).isEqualTo(Priority.NORMAL);
  }

  private static DeliveryOptions options(Duration ttl, @Nullable String collapseKey) {
    return new DeliveryOptions(Route.AUTO, ttl, Urgency.HIGH, collapseKey, Duration.ZERO);
  }
}
