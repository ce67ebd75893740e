package io.pushplanet.common.wire;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The JSON that a device gets over MQTT, and a service worker over Web Push. Fields that the
/// message does not have are absent.
public record DevicePayload(
    MessageId id,
    @Nullable String title,
    @Nullable String body,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> data,
    Instant sentAt,
    @Nullable String collapseKey) {
  /// The text of a message: the same for every device and every repeat.
  public static String of(Push push) {
    DevicePayload payload =
        new DevicePayload(
            push.id(),
            push.content().title(),
            push.content().body(),
            push.content().data(),
            push.acceptedAt(),
            push.delivery().collapseKey());
    return new String(WireForm.write(payload), StandardCharsets.UTF_8);
  }
}
