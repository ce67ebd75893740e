package io.pushplanet.load.bench.fault;

import io.pushplanet.common.node.NodeId;
import io.pushplanet.load.node.PlatformNode;
import io.pushplanet.quickstart.platform.Platform;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/// The nodes of a platform, each with a place, from 0. Thread-safe.
final class Nodes implements AutoCloseable {
  private final List<PlatformNode> nodes;

  private Nodes(List<PlatformNode> nodes) {
    this.nodes = List.copyOf(nodes);
  }

  /// Starts this number of nodes. Returns when they are ready.
  static Nodes start(Platform platform, int count) {
    List<PlatformNode> nodes = new ArrayList<>();
    for (int place = 0; place < count; place++) {
      nodes.add(new PlatformNode(platform, "takeover-" + place));
    }
    Nodes all = new Nodes(nodes);
    try {
      nodes.forEach(PlatformNode::start);
      return all;
    } catch (RuntimeException e) {
      all.close();
      throw e;
    }
  }

  int count() {
    return nodes.size();
  }

  List<PlatformNode> all() {
    return nodes;
  }

  PlatformNode at(int place) {
    return nodes.get(place);
  }

  int placeOf(NodeId node) {
    return nodes.stream().map(PlatformNode::id).toList().indexOf(node.value());
  }

  /// The addresses for devices, by place.
  List<InetSocketAddress> mqtt() {
    return nodes.stream().map(PlatformNode::mqtt).toList();
  }

  @Override
  public void close() {
    nodes.forEach(PlatformNode::close);
  }
}
