package io.pushplanet.dispatcher.lane;

import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.lane.Confirms;
import io.pushplanet.common.lane.InFlightBudget;
import io.pushplanet.common.lane.LanePublisher;
import java.util.List;
import org.springframework.stereotype.Component;

/// The way to the broker for everything one request publishes, on whatever queues. Thread-safe.
@Component
public class Lanes {
  /// A request with more items shares [#budget] with other such requests.
  private static final int FEW = 64;

  private final LanePublisher publisher;

  /// A request with more items than a lane takes would never get through, and several large ones would leave no room for the
  /// others.
  private final InFlightBudget budget = InFlightBudget.halfOf(LanePublisher.Settings.DEFAULT);

  Lanes(LanePublisher publisher) {
    this.publisher = publisher;
  }

  /// Returns when the broker has confirmed them all.
  ///
  /// @throws BrokerUnavailable when it did not; any of them may still arrive
  public void publish(List<Parcel> parcels) {
    Confirms confirms = new Confirms(publisher, parcels.size() > FEW ? budget : null);
    for (Parcel parcel : parcels) {
      if (confirms.hasFailed()) {
        break;
      }
      confirms.publish(parcel.queue(), parcel.body());
    }
    confirms.await();
  }
}
