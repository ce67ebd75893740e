package io.pushplanet.common.message.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeviceTokensTest {
  private static final Instant AT = Instant.parse("2026-11-21T10:00:00Z");

  private record Row(
      @Nullable String channel,
      @Nullable String token,
      @Nullable String kind,
      @Nullable String environment,
      @Nullable Instant registeredAt)
      implements DeviceTokens.Row {}

  private static Row row(String channel, String kind) {
    return new Row(channel, "t", kind, "sandbox", AT);
  }

  @Test
  void each_channel_has_the_token_of_its_row() {
    DeviceTokens tokens =
        DeviceTokens.of(
            List.of(row("apns", "voip"), row("fcm", "fid"), row("webpush", ""), row("hms", "")));

    assertThat(tokens)
        .isEqualTo(
            new DeviceTokens(
                new ApnsToken("t", "sandbox", AT, ApnsPushType.VOIP),
                new FcmToken("t", "fid", AT),
                new WebPushSubscription("t", AT),
                new HmsToken("t", AT)));
  }

  @Test
  void channels_and_kinds_of_a_newer_version_are_left_out() {
    assertThat(DeviceTokens.of(List.of(row("pigeon", "token"), row("apns", "telepathy"))))
        .isEqualTo(new DeviceTokens(null, null, null, null));
  }

  @Test
  void a_device_without_tokens_has_none() {
    assertThat(DeviceTokens.of(List.of(new Row(null, null, null, null, null))))
        .isEqualTo(new DeviceTokens(null, null, null, null));
  }
}
