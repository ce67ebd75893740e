package io.pushplanet.common.node;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A node's figures: it reports them under `numbers` on `GET /node`, and the dashboard shows them.
/// Counts are since the start of the node.
///
/// @param bytesPerSession of heap, estimated; absent while there are too few sessions for an
///     estimate
/// @param connected devices that were admitted
/// @param refused CONNECTs and other packets that were refused, by reason
/// @param turnedAway connections that were closed before TLS because of their address, by verdict;
///     absent when the node is of a version that does not report them
/// @param dropped messages that ended here without the device's acknowledgement, by reason
/// @param takeover how long a device that came from another node waited here for that node
public record NodeFigures(
    @Nullable Long bytesPerSession,
    double connectsPerSecond,
    long connected,
    Map<String, Long> refused,
    @Nullable Map<String, Long> turnedAway,
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
    refused = sorted(refused);
    turnedAway = turnedAway == null ? null : sorted(turnedAway);
    dropped = sorted(dropped);
  }

  private static Map<String, Long> sorted(Map<String, Long> counts) {
    return Collections.unmodifiableMap(new TreeMap<>(counts));
  }

  /// The count, the mean and the buckets are since the start of the node; the percentiles and the
  /// maximum are of the last minutes, and 0 when nothing was measured then.
  ///
  /// @param p50Millis absent when the node is of a version that does not report it
  /// @param buckets from the shortest to the longest times; empty when the node is of a version
  ///     that does not report them
  public record Times(
      long count,
      double meanMillis,
      @Nullable Double p50Millis,
      double p99Millis,
      double maxMillis,
      List<Bucket> buckets) {

    public Times {
      buckets = List.copyOf(Objects.requireNonNullElse(buckets, List.of()));
    }
  }

  /// The times above the bound of the bucket before it and up to this bound.
  ///
  /// @param upToMillis absent in the last bucket, which has no bound
  public record Bucket(@Nullable Double upToMillis, long count) {}
}
