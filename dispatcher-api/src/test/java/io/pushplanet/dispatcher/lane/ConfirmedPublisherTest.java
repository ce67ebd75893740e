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

class ConfirmedPublisherTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  /// Otherwise each item would wait until it times out, because the broker confirms none.
  @Test
  void a_large_request_ends_with_its_first_failure() {
    List<QueueItem> items =
        Collections.nCopies(10_000, new QueueItem("push.events", new byte[] {'1'}));
    try (LanePublisher lanes =
        new LanePublisher(
            away(), "test", LanePublisher.Settings.DEFAULT, RandomGenerator.getDefault(), meters)) {
      ConfirmedPublisher publisher = new ConfirmedPublisher(lanes);

      assertThatThrownBy(() -> publisher.publish(items)).isInstanceOf(BrokerUnavailable.class);
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
