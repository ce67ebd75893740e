package io.pushplanet.gateway.delivery;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.lane.Lanes;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.time.Clock;
import java.time.Duration;

/// Makes a task for each priority that runs the [PutOffFetcher] of its lanes.
final class PutOffFetchers {
  private static final Duration FETCH_EVERY = Duration.ofMillis(100);

  private final Lanes lanes;
  private final LaterStore later;
  private final LanePublisher publisher;
  private final Clock clock;
  private final MeterRegistry meters;

  PutOffFetchers(
      Lanes lanes, LaterStore later, LanePublisher publisher, Clock clock, MeterRegistry meters) {
    this.lanes = lanes;
    this.later = later;
    this.publisher = publisher;
    this.clock = clock;
    this.meters = meters;
  }

  /// Rests while the broker takes nothing: a fetched message could not get here.
  PeriodicTask of(Priority priority) {
    PutOffFetcher fetcher = new PutOffFetcher(lanes.atProviders(priority), later, clock);
    return new PeriodicTask(
        priority == Priority.HIGH ? "forward-high" : "forward-normal",
        FETCH_EVERY,
        publisher::takesNothing,
        () -> {
          fetcher.fetch();
          return false;
        },
        meters);
  }
}
