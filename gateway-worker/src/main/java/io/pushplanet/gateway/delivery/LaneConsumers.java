package io.pushplanet.gateway.delivery;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.intake.Subscription;
import io.pushplanet.gateway.lane.Lanes;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/// Ties the queue of each channel's lane to [Delivery]. The lanes of a priority share a connection.
final class LaneConsumers {
  private final ConnectionFactory connections;
  private final Delivery delivery;
  private final Lanes lanes;
  private final DeliverySettings settings;
  private final LanePublisher publisher;
  private final DeadLetters deadLetters;
  private final SecureRandom random;
  private final MeterRegistry meters;

  LaneConsumers(
      ConnectionFactory connections,
      Delivery delivery,
      Lanes lanes,
      DeliverySettings settings,
      LanePublisher publisher,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    this.connections = connections;
    this.delivery = delivery;
    this.lanes = lanes;
    this.settings = settings;
    this.publisher = publisher;
    this.deadLetters = deadLetters;
    this.random = random;
    this.meters = meters;
  }

  QueueConsumer of(Priority priority) {
    List<Subscription> queues = new ArrayList<>();
    for (Channel channel : Channel.values()) {
      queues.add(
          new Subscription(
              Topology.lane(channel, priority),
              settings.prefetch(),
              settings.maxInFlight(),
              lanes.lane(channel, priority)::room,
              (body, redelivered, ticket) -> delivery.deliver(channel, body, redelivered, ticket)));
    }
    String name = priority == Priority.HIGH ? "deliver-high" : "deliver-normal";
    // While the broker takes no outcomes nothing is sent: a message whose outcome cannot be told
    // would be sent again and again.
    return new QueueConsumer(
        connections, name, queues, publisher::takesNothing, deadLetters, random, meters);
  }
}
