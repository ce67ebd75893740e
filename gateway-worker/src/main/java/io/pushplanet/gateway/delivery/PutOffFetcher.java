package io.pushplanet.gateway.delivery;

import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.lane.Lanes.Lane;
import io.pushplanet.gateway.lane.ReturningMessages;
import io.pushplanet.gateway.later.LaterStore;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;

/// Fetches messages from `later` that were put off because they got no permit for their provider.
/// Each round fetches as many as would get a permit now, so that a fetched message is sent, and no
/// other message waits behind it. An app without a free permit costs no statement. The table tells
/// which apps' messages were put off by other workers, or by this one before it was started.
///
/// Not thread-safe: rounds follow one another.
final class PutOffFetcher {
  /// Rounds between two reads of the table for the apps that have messages there. Messages that a
  /// worker put off before it was stopped wait at most so long.
  private static final int READ_APPS_EVERY = 3_000;

  private final Map<String, Lane> lanes;
  private final LaterStore later;
  private final Clock clock;
  private long rounds;

  /// @param lanes by name. Lanes that must not wait for each other have a fetcher each
  PutOffFetcher(Map<String, Lane> lanes, LaterStore later, Clock clock) {
    this.lanes = Map.copyOf(lanes);
    this.later = later;
    this.clock = clock;
  }

  /// One round; to be called ten times a second.
  ///
  /// @throws org.springframework.dao.DataAccessException while MySQL is away: call again
  void fetch() {
    if (rounds % READ_APPS_EVERY == 0) {
      lanes.forEach((name, lane) ->
          later
              .waiting(name, ProviderDelivery.PROVIDER_SLOW)
              .forEach(lane.returning()::markPutOff));
    }
    rounds++;
    lanes.forEach(
        (name, lane) -> lane.returning().appsInLater().forEach(app -> fetch(name, lane, app)));
  }

  private void fetch(String name, Lane lane, AppId app) {
    ReturningMessages returning = lane.returning();
    int room = returning.roomFor(app);
    if (room > 0) {
      returning.expect(app, room);
      try {
        returning.fetched(app, room, fetch(name, lane, app, room));
      } catch (RuntimeException | Error away) {
        returning.notFetched(app, room);
        throw away;
      }
    }
  }

  private int fetch(String name, Lane lane, AppId app, int room) {
    String reason = ProviderDelivery.PROVIDER_SLOW;
    Instant now = clock.instant();
    return lane.returningTogether() > 1
        ? later.bringNeighboursForward(app, name, reason, now, room, lane.returningTogether())
        : later.bringForward(app, name, reason, now, room);
  }
}
