package io.pushplanet.dispatcher.lane;

import io.pushplanet.common.wire.BrokerUnavailable;
import io.pushplanet.common.wire.Confirms;
import io.pushplanet.common.wire.LanePublisher;
import java.util.List;
import org.springframework.stereotype.Component;

/// The way to the broker for everything one request publishes, on whatever queues. Thread-safe.
@Component
public class Lanes {
  private final LanePublisher publisher;

  Lanes(LanePublisher publisher) {
    this.publisher = publisher;
  }

  /// Returns when the broker has confirmed them all.
  ///
  /// @throws BrokerUnavailable when it did not; any of them may still arrive
  public void publish(List<Parcel> parcels) {
    Confirms confirms = new Confirms(publisher);
    parcels.forEach(parcel -> confirms.publish(parcel.queue(), parcel.body()));
    confirms.await();
  }
}
