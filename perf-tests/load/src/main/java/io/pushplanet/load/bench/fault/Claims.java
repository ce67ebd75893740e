package io.pushplanet.load.bench.fault;

import io.lettuce.core.RedisClient;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.SessionNotice;
import io.pushplanet.common.session.SessionNotices;
import io.pushplanet.load.audit.Claim;
import io.pushplanet.load.node.PlatformNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// The claims of devices, as the directory publishes them to former owners. Thread-safe.
final class Claims implements AutoCloseable {
  private final Nodes nodes;
  private final Queue<Claim> heard = new ConcurrentLinkedQueue<>();
  private final List<SessionNotices> notices = new ArrayList<>();

  private Claims(Nodes nodes) {
    this.nodes = nodes;
  }

  /// Hears what every node hears, until it is closed.
  static Claims listen(RedisClient redis, Nodes nodes) {
    Claims claims = new Claims(nodes);
    for (PlatformNode node : nodes.all()) {
      claims.notices.add(
          SessionNotices.listen(redis, new NodeId(node.id()), claims::heard, () -> {}));
    }
    return claims;
  }

  private void heard(SessionNotice word) {
    if (word instanceof SessionNotice.Takeover(var device, var owner)) {
      heard.add(new Claim(device.device(), nodes.placeOf(owner.node()), owner.epoch()));
    }
  }

  /// All since [#forget].
  List<Claim> all() {
    return List.copyOf(heard);
  }

  void forget() {
    heard.clear();
  }

  @Override
  public void close() {
    notices.forEach(SessionNotices::close);
  }
}
