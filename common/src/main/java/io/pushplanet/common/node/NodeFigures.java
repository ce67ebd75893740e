package io.pushplanet.common.node;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A node's figures: it reports them under `numbers` on `GET /node`, and the dashboard shows them.
/// Counts are since the start of the node.
///
/// @param bytesPerSession of heap, estimated; absent while there are too few sessions for an
///     estimate
/// @param refused CONNECTs and other packets that were refused, by reason
/// @param dropped messages that ended here without the device's acknowledgement, by reason
/// @param takeover how long this node still held a device that had connected to another node
public record NodeFigures(
    @Nullable Long bytesPerSession,
    double connectsPerSecond,
    long connected,
    Map<String, Long> refused,
    long inFlight,
    long published,
    long redelivered,
    Map<String, Long> dropped,
    long deadPaths,
    long fenced,
    Times loopLag,
    Times sweep,
    Times connect,
    Times takeover,
    Times publishToWrite,
    Times publishToAck) {

  public NodeFigures {
    refused = Collections.unmodifiableMap(new TreeMap<>(refused));
    dropped = Collections.unmodifiableMap(new TreeMap<>(dropped));
  }

  /// @param p99Millis of the last minutes
  public record Times(long count, double meanMillis, double p99Millis, double maxMillis) {}
}
