package io.pushplanet.common.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

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

  private static DeliveryOptions options(Duration ttl, @Nullable String collapseKey) {
    return new DeliveryOptions(Route.AUTO, ttl, Priority.HIGH, collapseKey, Duration.ZERO);
  }
}
