package io.pushplanet.gateway.node;

import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;

/// The address of a node's trusted listener. A node that restarts with another port has another
/// address.
record NodeAddress(NodeId node, String host, int port) {
  static NodeAddress of(NodeLease lease) {
    return new NodeAddress(lease.node(), lease.host(), lease.gatewayPort());
  }

  String uri() {
    return "tcp://" + host + ":" + port;
  }
}
