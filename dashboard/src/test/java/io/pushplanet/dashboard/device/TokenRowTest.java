package io.pushplanet.dashboard.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class TokenRowTest {
  @Test
  void a_token_shows_only_its_ends() {
    String token = "0123456789abcdef".repeat(4);
    TokenRow row = new TokenRow("apns", token, "token", "production", Instant.EPOCH, null, null);

    assertThat(row.masked()).isEqualTo("012345…abcdef");
    assertThat(row.toString()).doesNotContain(token);
    assertThat(new TokenRow("fcm", "short", "token", "", Instant.EPOCH, null, null).masked())
        .isEqualTo("…");
  }

  @Test
  void a_token_of_a_kind_of_its_own_says_what_it_is_for() {
    assertThat(new TokenRow("apns", "ab", "voip", "sandbox", Instant.EPOCH, null, null).use())
        .isEqualTo("sandbox, voip");
    assertThat(new TokenRow("apns", "ab", "token", "sandbox", Instant.EPOCH, null, null).use())
        .isEqualTo("sandbox");
  }
}
