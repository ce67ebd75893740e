package io.pushplanet.cm.node;

import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.inbox.Inbox;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.cm.uplink.EventLane;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/// The truth about this node. It is up while its listeners are bound: devices stay connected and get what gateways hand
/// over while Redis, RabbitMQ or MySQL is away; which of them is, stands in the details.
final class NodeHealth implements HealthIndicator {
  private final Transport transport;
  private final Registrar registrar;
  private final EventLane lane;
  private final Inbox inbox;
  private final Admission admission;

  NodeHealth(
      Transport transport, Registrar registrar, EventLane lane, Inbox inbox, Admission admission) {
    this.transport = transport;
    this.registrar = registrar;
    this.lane = lane;
    this.inbox = inbox;
    this.admission = admission;
  }

  @Override
  public Health health() {
    return condition()
        .withDetail("listeners", transport.ports())
        .withDetail("redis", word(registrar.isReachable()))
        .withDetail("rabbitmq", word(lane.isConnected()))
        .withDetail("mysql", word(inbox.isReachable()))
        .build();
  }

  private Health.Builder condition() {
    return admission.isDraining()
        ? Health.outOfService()
            .withDetail(
                "reason", "it sends its devices away, until DELETE /node/drain or a new start")
        : Health.up();
  }

  private static String word(boolean reachable) {
    return reachable ? "reachable" : "away";
  }
}
