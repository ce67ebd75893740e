package io.pushplanet.gateway.node;

import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisUnavailable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The nodes' leases, read from the directory and kept for [#KEPT]. Thread-safe.
final class NodeLeases {
  private static final Logger LOG = LoggerFactory.getLogger(NodeLeases.class);
  private static final Duration KEPT = Duration.ofSeconds(1);

  private final Supplier<List<NodeLease>> directory;
  private final LongSupplier nanoTime;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile Leases leases;

  /// @param looks how often the directory was asked, whether or not it answered
  private record Leases(Map<NodeId, NodeLease> byId, long readAtNanos, long looks) {}

  /// @param directory reads the nodes with a current lease
  /// @param nanoTime never set, unlike a clock
  NodeLeases(Supplier<List<NodeLease>> directory, LongSupplier nanoTime) {
    this.directory = directory;
    this.nanoTime = nanoTime;
    this.leases = new Leases(Map.of(), nanoTime.getAsLong() - KEPT.toNanos(), 0);
  }

  /// Reads old leases again first. One thread reads, and the others use the leases known so far.
  /// Only a thread that looks for an unknown node waits for the reader, and goes by its result even
  /// if the read failed.
  Optional<NodeLease> of(NodeId node) {
    Leases known = leases;
    if (isOld(known)) {
      boolean mine = reading.tryLock();
      if (!mine && !known.byId().containsKey(node)) {
        reading.lock();
        mine = true;
      }
      if (mine) {
        try {
          if (leases.looks() == known.looks()) {
            leases = read(known);
          }
        } finally {
          reading.unlock();
        }
      }
    }
    return Optional.ofNullable(leases.byId().get(node));
  }

  /// Whether a node without a lease may have one after all, because the directory does not answer.
  boolean areOld() {
    return isOld(leases);
  }

  private boolean isOld(Leases known) {
    return nanoTime.getAsLong() - known.readAtNanos() >= KEPT.toNanos();
  }

  private Leases read(Leases known) {
    try {
      Map<NodeId, NodeLease> byId =
          directory.get().stream().collect(Collectors.toMap(NodeLease::node, Function.identity()));
      return new Leases(byId, nanoTime.getAsLong(), known.looks() + 1);
    } catch (RedisUnavailable e) {
      LOG.debug("event=leases_unknown reason=\"{}\"", e.toString());
      return new Leases(known.byId(), known.readAtNanos(), known.looks() + 1);
    }
  }
}
