package io.pushplanet.common.node;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A node's state in each heartbeat; it ends when the heartbeats stop.
///
/// @param host where gateways reach it
/// @param gatewayPort its trusted listener
/// @param managementPort its health and metrics
/// @param draining whether it is being emptied and takes no new devices
/// @param mqttAddress `host:port` at which devices reach this node itself; absent when devices only
///     know a load balancer's address, and while the node is full
/// @param tlsAddress the same over TLS
public record NodeLease(
    NodeId node,
    String host,
    int gatewayPort,
    int mqttPort,
    int managementPort,
    int sessions,
    boolean draining,
    Instant at,
    @Nullable String mqttAddress,
    @Nullable String tlsAddress) {

  public NodeLease {
    Objects.requireNonNull(node, "node");
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(at, "at");
  }

  /// A node without an address of its own for devices.
  public NodeLease(
      NodeId node,
      String host,
      int gatewayPort,
      int mqttPort,
      int managementPort,
      int sessions,
      boolean draining,
      Instant at) {
    this(node, host, gatewayPort, mqttPort, managementPort, sessions, draining, at, null, null);
  }
}
