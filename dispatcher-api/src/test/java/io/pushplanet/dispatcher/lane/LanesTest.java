package io.pushplanet.dispatcher.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.lane.LanePublisher;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class LanesTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  /// Each of its items would wait for its turn, and nothing is confirmed.
  @Test
  void a_large_request_ends_with_its_first_failure() {
    List<Parcel> parcels = Collections.nCopies(10_000, new Parcel("push.events", new byte[] {'1'}));
    try (LanePublisher publisher =
        new LanePublisher(
            away(), "test", LanePublisher.Settings.DEFAULT, RandomGenerator.getDefault(), meters)) {
      Lanes lanes = new Lanes(publisher);

      assertThatThrownBy(() -> lanes.publish(parcels)).isInstanceOf(BrokerUnavailable.class);
    }

    assertThat(meters.get("pushplanet.lane.items").tag("result", "failed").counter().count())
        .isOne();
  }

  private static ConnectionFactory away() {
    return new ConnectionFactory() {
      @Override
      public Connection newConnection(String name) throws IOException {
        throw new IOException("the broker is away");
      }
    };
  }
}
