package io.pushplanet.common.session;

import java.time.Instant;

/// What a node says of itself in each heartbeat; gone when it stops saying it.
///
/// @param host where gateways reach it
/// @param gatewayPort its trusted listener
/// @param managementPort its health and metrics
public record NodeLease(
    NodeId node,
    String host,
    int gatewayPort,
    int mqttPort,
    int managementPort,
    int sessions,
    boolean draining,
    Instant at) {}
