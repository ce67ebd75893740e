package io.pushplanet.common.session;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What a node says of itself in each heartbeat; gone when it stops saying it.
///
/// @param host where gateways reach it
/// @param gatewayPort its trusted listener
/// @param managementPort its health and metrics
/// @param draining it takes no new devices
/// @param mqttAddress `host:port` under which devices reach this very node; absent when only a load balancer's address is
///     known to them
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

  /// A node that devices do not reach by an address of its own.
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
