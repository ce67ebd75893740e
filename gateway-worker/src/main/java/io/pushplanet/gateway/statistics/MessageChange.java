package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.message.AppId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// What a bulk changes in one row of `messages`: counts to add, and values that only some events
/// carry. Confined to its transaction.
final class MessageChange {
  final AppId app;
  DeliveryEvent.@Nullable Accepted accepted;
  @Nullable Instant expandedAt;
  int recipients;
  int delivered;
  int failed;
  int expired;
  int cancelled;
  int duplicates;
  int opened;

  MessageChange(AppId app) {
    this.app = app;
  }

  /// How many of its recipients have no end yet.
  int queued() {
    return recipients - delivered - failed - expired - cancelled;
  }

  void add(DeliveryState state, int count) {
    switch (state) {
      case QUEUED -> {}
      case DELIVERED -> delivered += count;
      case FAILED -> failed += count;
      case EXPIRED -> expired += count;
      case CANCELLED -> cancelled += count;
    }
  }
}
