package io.pushplanet.dashboard.node;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import jakarta.annotation.PreDestroy;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.springframework.stereotype.Component;

/// The connection-manager nodes that are alive, and the nodes of single devices, as Redis has them.
/// Redis may be away at the start: no request waits for a connection. Thread-safe.
@Component
public class Nodes {
  private final RedisLink redis;
  private final SessionDirectory directory;

  Nodes(RedisClient client, Clock clock) {
    this.redis = RedisLink.open(client);
    this.directory = new SessionDirectory(redis, clock);
  }

  /// The present nodes, if Redis answers.
  public sealed interface Answer {
    record Known(List<NodeLease> nodes) implements Answer {
      public Known {
        nodes = List.copyOf(nodes);
      }

      public long devices() {
        return nodes.stream().mapToLong(NodeLease::sessions).sum();
      }
    }

    /// Redis did not answer.
    record Unknown() implements Answer {}
  }

  public Answer now() {
    try {
      return new Answer.Known(
          directory.nodes().stream()
              .sorted(Comparator.comparing(lease -> lease.node().value()))
              .toList());
    } catch (RedisUnavailable | RedisException e) {
      return new Answer.Unknown();
    }
  }

  /// The node to which a device is connected now.
  public sealed interface Whereabouts {
    record Connected(NodeId node) implements Whereabouts {}

    record Away() implements Whereabouts {}

    /// Redis did not answer.
    record Unknown() implements Whereabouts {}
  }

  public Whereabouts whereabouts(DeviceKey device) {
    try {
      Optional<NodeId> node = directory.owner(device).map(SessionOwner::node);
      // The sessions of a node that died stay there until their devices are back.
      return node.isPresent()
              && directory.nodes().stream().anyMatch(lease -> lease.node().equals(node.get()))
          ? new Whereabouts.Connected(node.get())
          : new Whereabouts.Away();
    } catch (RedisUnavailable | RedisException e) {
      return new Whereabouts.Unknown();
    }
  }

  @PreDestroy
  void close() {
    redis.close();
  }
}
