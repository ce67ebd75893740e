package io.pushplanet.cm.admission;

import io.pushplanet.cm.mqtt.link.ListenerKind;
import io.pushplanet.common.node.NodeLease;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/// The address where a device can go instead of this node: the configured one, or that of another
/// node. It draws two nodes at random and names the emptier one, so that a node that has just
/// started fills up first without being overrun. Thread-safe, lock-free.
public final class ServerReferences {
  private final Optional<String> configured;
  private final RandomGenerator random;
  private volatile List<NodeLease> others = List.of();

  /// @param configured `host:port` that is always named; blank to name another node
  public ServerReferences(String configured, RandomGenerator random) {
    this.configured = Optional.of(configured).filter(text -> !text.isBlank());
    this.random = random;
  }

  /// Replaces the known nodes: the others that admit devices, as the directory has them now.
  public void update(List<NodeLease> nodes) {
    others = List.copyOf(nodes);
  }

  /// Whether another node admits devices, whether or not its address is known.
  public boolean hasOtherNode() {
    return configured.isPresent() || !others.isEmpty();
  }

  /// `host:port` for MQTT 5's Server Reference. Empty when devices cannot reach another node by an
  /// address of its own, and for devices on WebSocket, which need a URL.
  public Optional<String> reference(ListenerKind kind) {
    if (configured.isPresent()) {
      return configured;
    }
    List<NodeLease> reachable =
        others.stream().filter(node -> address(node, kind).isPresent()).toList();
    if (reachable.isEmpty()) {
      return Optional.empty();
    }
    NodeLease one = reachable.get(random.nextInt(reachable.size()));
    NodeLease other = reachable.get(random.nextInt(reachable.size()));
    return address(one.sessions() <= other.sessions() ? one : other, kind);
  }

  private static Optional<String> address(NodeLease node, ListenerKind kind) {
    return Optional.ofNullable(
        switch (kind) {
          case MQTT -> node.mqttAddress();
          case TLS -> node.tlsAddress();
          case WEB_SOCKET -> null;
        });
  }
}
