package io.pushplanet.dashboard.node;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.NodeLease;
import io.pushplanet.common.session.SessionDirectory;
import jakarta.annotation.PreDestroy;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// The connection-manager nodes that are alive, by their leases in Redis. Connects at the first question, since Redis may
/// be away at the start; after that the client reconnects by itself. Thread-safe.
@Component
public class Nodes {
  private final RedisClient redis;
  private final Clock clock;
  private @Nullable StatefulRedisConnection<String, String> connection;
  private @Nullable SessionDirectory directory;

  Nodes(RedisClient redis, Clock clock) {
    this.redis = redis;
    this.clock = clock;
  }

  /// What is known of the nodes now.
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
          directory().nodes().stream()
              .sorted(Comparator.comparing(lease -> lease.node().value()))
              .toList());
    } catch (DirectoryUnavailable | RedisException e) {
      return new Answer.Unknown();
    }
  }

  private synchronized SessionDirectory directory() {
    SessionDirectory known = directory;
    if (known == null) {
      StatefulRedisConnection<String, String> open = redis.connect();
      connection = open;
      known = new SessionDirectory(open, clock);
      directory = known;
    }
    return known;
  }

  @PreDestroy
  synchronized void close() {
    if (connection != null) {
      connection.close();
    }
  }
}
