package io.pushplanet.cm.node;

import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Transport;
import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/// `GET /node`: this node in numbers, for people and benches.
@RestController
class NodePage {
  private final Node node;
  private final SessionTable sessions;
  private final Transport transport;

  /// @param heapBytes of the whole process, garbage included
  record View(
      String node,
      int sessions,
      int connections,
      boolean draining,
      Map<String, Integer> ports,
      long unauthenticatedBytes,
      long heapBytes) {}

  NodePage(Node node, SessionTable sessions, Transport transport) {
    this.node = node;
    this.sessions = sessions;
    this.transport = transport;
  }

  @GetMapping("/node")
  View node() {
    var runtime = Runtime.getRuntime();
    return new View(
        node.id().value(),
        sessions.size(),
        transport.connections(),
        node.lease(0).draining(),
        transport.ports(),
        transport.unauthenticatedBytes(),
        runtime.totalMemory() - runtime.freeMemory());
  }
}
