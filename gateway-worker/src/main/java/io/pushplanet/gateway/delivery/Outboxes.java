package io.pushplanet.gateway.delivery;

import io.pushplanet.common.lane.Confirms;
import io.pushplanet.common.lane.InFlightBudget;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.gateway.database.DatabasePermits;
import io.pushplanet.gateway.parcel.Parcel;
import io.pushplanet.gateway.retry.RetrySchedule;
import java.time.Clock;
import java.util.List;
import java.util.function.BiConsumer;

/// Makes an [Outbox] for each batch. Together they leave only so much unconfirmed by the broker.
/// Thread-safe.
final class Outboxes {
  /// For outcomes that the broker has not confirmed yet. A lane hands out some 4,000 recipients of
  /// a broadcast in one message, and many of these messages at once.
  private final InFlightBudget budget = InFlightBudget.halfOf(LanePublisher.Settings.DEFAULT);

  private final MoveStore moves;
  private final LanePublisher publisher;
  private final RetrySchedule retries;
  private final Clock clock;
  private final DeliveryMetrics metrics;
  private final BiConsumer<List<Parcel>, Outbox> onParked;

  /// @param onParked is given the parcels that lie in inboxes now, and their outbox
  Outboxes(
      MoveStore moves,
      LanePublisher publisher,
      RetrySchedule retries,
      Clock clock,
      DeliveryMetrics metrics,
      BiConsumer<List<Parcel>, Outbox> onParked) {
    this.moves = moves;
    this.publisher = publisher;
    this.retries = retries;
    this.clock = clock;
    this.metrics = metrics;
    this.onParked = onParked;
  }

  /// @param databasePermits of the lane; its outboxes share them
  Outbox outbox(DatabasePermits databasePermits) {
    return new Outbox(
        moves, new Confirms(publisher, budget), databasePermits, retries, clock, metrics, onParked);
  }
}
