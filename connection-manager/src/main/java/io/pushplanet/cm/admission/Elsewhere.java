package io.pushplanet.cm.admission;

import io.pushplanet.cm.mqtt.link.Door;
import io.pushplanet.common.session.NodeLease;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/// Where a device can go instead of here: the one address that is set, or another node's. Of two nodes drawn by lot the
/// emptier one is named, so that a node that has just started fills up first without being overrun. Thread-safe, lock-free.
public final class Elsewhere {
  private final Optional<String> set;
  private final RandomGenerator random;
  private volatile List<NodeLease> others = List.of();

  /// @param set `host:port` that is always named; blank to name other nodes
  public Elsewhere(String set, RandomGenerator random) {
    this.set = Optional.of(set).filter(text -> !text.isBlank());
    this.random = random;
  }

  /// The other nodes that take devices, as the directory has them now.
  public void know(List<NodeLease> nodes) {
    others = List.copyOf(nodes);
  }

  /// Whether any other node takes devices, be its address known or not.
  public boolean exists() {
    return set.isPresent() || !others.isEmpty();
  }

  /// `host:port`, for MQTT 5's Server Reference; empty when devices cannot reach another node by an address of its own, and for those
  /// on WebSocket, who know it by a URL.
  public Optional<String> reference(Door door) {
    if (set.isPresent()) {
      return set;
    }
    var reachable = others.stream().filter(node -> address(node, door).isPresent()).toList();
    if (reachable.isEmpty()) {
      return Optional.empty();
    }
    var one = reachable.get(random.nextInt(reachable.size()));
    var other = reachable.get(random.nextInt(reachable.size()));
    return address(one.sessions() <= other.sessions() ? one : other, door);
  }

  private static Optional<String> address(NodeLease node, Door door) {
    return Optional.ofNullable(
        switch (door) {
          case MQTT -> node.mqttAddress();
          case TLS -> node.tlsAddress();
          case WEB_SOCKET -> null;
        });
  }
}
