package io.pushplanet.dispatcher.lane;

import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.lane.Confirms;
import io.pushplanet.common.lane.InFlightBudget;
import io.pushplanet.common.lane.LanePublisher;
import java.util.List;
import org.springframework.stereotype.Component;

/// Publishes everything that one request has for the broker, on any queues, and waits for the
/// broker's confirms. Thread-safe.
@Component
public class ConfirmedPublisher {
  /// A request with more items than this shares [#budget] with other large requests.
  private static final int FEW = 64;

  private final LanePublisher publisher;

  /// Bounds the items of large requests that are on their way. Without it a request with more items
  /// than a lane takes would never get through, and several large requests would leave the small
  /// ones no room.
  private final InFlightBudget budget = InFlightBudget.halfOf(LanePublisher.Settings.DEFAULT);

  ConfirmedPublisher(LanePublisher publisher) {
    this.publisher = publisher;
  }

  /// Returns when the broker has confirmed all items.
  ///
  /// @throws BrokerUnavailable when it has not; any of the items may still arrive
  public void publish(List<QueueItem> items) {
    Confirms confirms = new Confirms(publisher, items.size() > FEW ? budget : null);
    for (QueueItem item : items) {
      if (confirms.hasFailed()) {
        break;
      }
      confirms.publish(item.queue(), item.body());
    }
    confirms.await();
  }
}
