package io.pushplanet.cm.node;

import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.inbox.Inbox;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.cm.uplink.EventPublisher;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/// The health of this node. The node is up while its listeners are bound: while Redis, RabbitMQ or
/// MySQL is away, devices stay connected and receive messages from gateways. The details say which
/// of these servers is away.
final class NodeHealth implements HealthIndicator {
  private final Transport transport;
  private final Registrar registrar;
  private final EventPublisher events;
  private final Inbox inbox;
  private final Admission admission;

  NodeHealth(
      Transport transport,
      Registrar registrar,
      EventPublisher events,
      Inbox inbox,
      Admission admission) {
    this.transport = transport;
    this.registrar = registrar;
    this.events = events;
    this.inbox = inbox;
    this.admission = admission;
  }

  @Override
  public Health health() {
    return condition()
        .withDetail("listeners", transport.ports())
        .withDetail("redis", word(registrar.isReachable()))
        .withDetail("rabbitmq", word(events.isConnected()))
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
