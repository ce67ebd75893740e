package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A row of `deliveries`: one message at one device.
public record DeliveryRow(
    MessageId messageId,
    DeviceId deviceId,
    DeliveryState state,
    @Nullable String channel,
    @Nullable String reason,
    String attempts,
    int duplicates,
    Instant queuedAt,
    @Nullable Instant finishedAt,
    @Nullable Instant displayedAt,
    @Nullable Instant openedAt) {
  /// Oldest first.
  public List<Attempt> timeline() {
    try {
      return WireForm.readBatch(attempts.getBytes(StandardCharsets.UTF_8), Attempt.class);
    } catch (MalformedWire e) {
      return List.of();
    }
  }

  /// How a state looks.
  public String tone() {
    return switch (state) {
      case DELIVERED -> "good";
      case QUEUED -> "info";
      case FAILED -> "bad";
      case EXPIRED -> "warn";
      case CANCELLED -> "plain";
    };
  }
}
