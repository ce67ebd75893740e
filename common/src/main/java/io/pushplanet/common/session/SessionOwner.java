package io.pushplanet.common.session;

import io.pushplanet.common.node.NodeId;

/// The node that holds a device's session. A node with a lower epoch no longer owns the device.
public record SessionOwner(NodeId node, long epoch) {}
