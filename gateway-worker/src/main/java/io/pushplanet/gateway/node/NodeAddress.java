package io.pushplanet.gateway.node;

import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.NodeLease;

/// Where a node's trusted listener is. A node that restarts with another port is another address.
record NodeAddress(NodeId node, String host, int port) {
  static NodeAddress of(NodeLease lease) {
    return new NodeAddress(lease.node(), lease.host(), lease.gatewayPort());
  }

  String uri() {
    return "tcp://" + host + ":" + port;
  }
}
