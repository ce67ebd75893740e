package io.pushplanet.load.audit;

import io.pushplanet.common.delivery.DeliveryState;

/// The number of a message's recipients in each state.
public record Counts(
    long recipients, long delivered, long failed, long expired, long queued, long cancelled) {
  static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0);

  Counts plus(DeliveryState state) {
    return switch (state) {
      case DELIVERED ->
          new Counts(recipients + 1, delivered + 1, failed, expired, queued, cancelled);
      case FAILED -> new Counts(recipients + 1, delivered, failed + 1, expired, queued, cancelled);
      case EXPIRED -> new Counts(recipients + 1, delivered, failed, expired + 1, queued, cancelled);
      case QUEUED -> new Counts(recipients + 1, delivered, failed, expired, queued + 1, cancelled);
      case CANCELLED ->
          new Counts(recipients + 1, delivered, failed, expired, queued, cancelled + 1);
    };
  }
}
