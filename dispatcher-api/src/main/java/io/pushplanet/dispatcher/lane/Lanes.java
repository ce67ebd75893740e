package io.pushplanet.dispatcher.lane;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.wire.BrokerUnavailable;
import io.pushplanet.common.wire.LanePublisher;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.springframework.stereotype.Component;

/// The way to the broker for everything one request publishes, on whatever queues. Thread-safe.
@Component
public class Lanes {
  private final LanePublisher publisher;
  private final Timer confirming;

  Lanes(LanePublisher publisher, MeterRegistry meters) {
    this.publisher = publisher;
    this.confirming =
        Timer.builder("pushplanet.confirm").publishPercentileHistogram().register(meters);
  }

  /// Returns when the broker has confirmed them all.
  ///
  /// @throws BrokerUnavailable when it did not; any of them may still arrive
  public void publish(List<Parcel> parcels) {
    Confirms confirms = new Confirms(parcels.size());
    long began = System.nanoTime();
    parcels.forEach(parcel -> publisher.publish(parcel.queue(), parcel.body(), confirms));
    confirms.await();
    confirming.record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
  }
}
