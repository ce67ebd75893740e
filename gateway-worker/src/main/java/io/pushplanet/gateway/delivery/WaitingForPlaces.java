package io.pushplanet.gateway.delivery;

import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.lane.Lanes.Lane;
import io.pushplanet.gateway.lane.Places;
import io.pushplanet.gateway.later.LaterStore;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;

/// Brings back what waits in `later` for want of a place at its provider: as much at a time as would get one, so that whoever comes back
/// is sent, and nobody else waits behind it. Where nothing has room nothing is asked. Of what others put off, or this worker before it
/// was started, the table tells.
///
/// Confined to whoever calls it, one round after the other.
final class WaitingForPlaces {
  /// Rounds from one look through the table to the next: what a worker put off that is gone waits no longer than that.
  private static final int LOOK_THROUGH_EVERY = 3_000;

  private final Map<String, Lane> lanes;
  private final LaterStore later;
  private final Clock clock;
  private long rounds;

  /// @param lanes by name; who waits for others does not wait behind these
  WaitingForPlaces(Map<String, Lane> lanes, LaterStore later, Clock clock) {
    this.lanes = Map.copyOf(lanes);
    this.later = later;
    this.clock = clock;
  }

  /// @throws org.springframework.dao.DataAccessException while MySQL is away
  void bringForward() {
    if (rounds % LOOK_THROUGH_EVERY == 0) {
      lanes.forEach((name, lane) ->
          later
              .waiting(name, ProviderDelivery.PROVIDER_SLOW)
              .forEach(lane.places()::waitsElsewhere));
    }
    rounds++;
    lanes.forEach((name, lane) ->
        lane.places().waitingElsewhere().forEach(app -> bringForward(name, lane, app)));
  }

  private void bringForward(String name, Lane lane, AppId app) {
    Places places = lane.places();
    int room = places.roomFor(app);
    if (room > 0) {
      places.toCome(app, room);
      places.broughtForward(app, room, bringForward(name, lane, app, room));
    }
  }

  private int bringForward(String name, Lane lane, AppId app, int room) {
    String reason = ProviderDelivery.PROVIDER_SLOW;
    Instant now = clock.instant();
    return lane.together() > 1
        ? later.bringForward(app, name, reason, now, room, lane.together())
        : later.bringForward(app, name, reason, now, room);
  }
}
