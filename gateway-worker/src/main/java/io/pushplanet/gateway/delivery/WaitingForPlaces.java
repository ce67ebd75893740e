package io.pushplanet.gateway.delivery;

import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.lane.Places;
import io.pushplanet.gateway.later.LaterStore;
import java.time.Clock;
import java.util.Map;

/// Brings back what waits in `later` for want of a place at its provider: as much at a time as would get one, so that whoever comes back
/// is sent, and nobody else waits behind it. Where nothing has room nothing is asked. Of what others put off, or this worker before it
/// was started, the table tells.
///
/// Confined to whoever calls it, one round after the other.
final class WaitingForPlaces {
  /// Rounds from one look through the table to the next: what a worker put off that is gone waits no longer than that.
  private static final int LOOK_THROUGH_EVERY = 3_000;

  private final Map<String, Places> lanes;
  private final LaterStore later;
  private final Clock clock;
  private long rounds;

  /// @param lanes by name; who waits for others does not wait behind these
  WaitingForPlaces(Map<String, Places> lanes, LaterStore later, Clock clock) {
    this.lanes = Map.copyOf(lanes);
    this.later = later;
    this.clock = clock;
  }

  /// @throws org.springframework.dao.DataAccessException while MySQL is away
  void bringForward() {
    if (rounds % LOOK_THROUGH_EVERY == 0) {
      lanes.forEach((lane, places) ->
          later.waiting(lane, ProviderDelivery.PROVIDER_SLOW).forEach(places::waitsElsewhere));
    }
    rounds++;
    lanes.forEach((lane, places) ->
        places.waitingElsewhere().forEach(app -> bringForward(lane, places, app)));
  }

  private void bringForward(String lane, Places places, AppId app) {
    int room = places.roomFor(app);
    if (room > 0) {
      places.toCome(app, room);
      places.broughtForward(
          app,
          room,
          later.bringForward(app, lane, ProviderDelivery.PROVIDER_SLOW, clock.instant(), room));
    }
  }
}
