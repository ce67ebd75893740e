package io.pushplanet.cm.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import io.micrometer.core.instrument.distribution.ValueAtPercentile;
import io.pushplanet.common.node.NodeFigures;
import io.pushplanet.common.node.NodeFigures.Times;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// The figures of `GET /node`: the important meters of this process, read together. A missing meter
/// is a bug and not a 0. Thread-safe.
final class NodeNumbers {
  private static final long RATE_OVER_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final MeterRegistry meters;
  private final HeapAfterCollection heap;
  private final LongSupplier nanoTime;

  @GuardedBy("this")
  private Sample older;

  @GuardedBy("this")
  private Sample newer;

  private record Sample(long atNanos, long connected) {}

  NodeNumbers(MeterRegistry meters, HeapAfterCollection heap, LongSupplier nanoTime) {
    this.meters = meters;
    this.heap = heap;
    this.nanoTime = nanoTime;
    this.older = new Sample(nanoTime.getAsLong(), 0);
    this.newer = older;
  }

  NodeFigures now() {
    long connected = count("cm.admission.connected");
    OptionalLong perSession = heap.perSession();
    return new NodeFigures(
        perSession.isPresent() ? perSession.getAsLong() : null,
        connectsPerSecond(connected),
        connected,
        byTag("cm.admission.refused", "reason"),
        (long) meters.get("cm.session.in.flight").gauge().value(),
        count("cm.session.published"),
        count("cm.session.redelivered"),
        byTag("cm.session.dropped", "reason"),
        count("cm.session.dead.paths"),
        count("cm.session.fenced"),
        times("cm.transport.loop.lag"),
        times("cm.transport.sweep"),
        times("cm.session.established"),
        times("cm.session.takeover"),
        times("cm.delivery.written"),
        times("cm.session.acknowledged"));
  }

  /// Over the last five to ten seconds if it is called that often, else since the last call.
  private synchronized double connectsPerSecond(long connected) {
    long now = nanoTime.getAsLong();
    if (now - newer.atNanos() >= RATE_OVER_NANOS) {
      older = newer;
      newer = new Sample(now, connected);
    }
    long elapsed = now - older.atNanos();
    return elapsed <= 0 ? 0 : (connected - older.connected()) * 1e9 / elapsed;
  }

  private long count(String name) {
    return (long) meters.get(name).counters().stream().mapToDouble(Counter::count).sum();
  }

  private Map<String, Long> byTag(String name, String tag) {
    Map<String, Long> counts = new TreeMap<>();
    for (Counter counter : meters.get(name).counters()) {
      long count = (long) counter.count();
      if (count > 0) {
        counts.merge(Objects.requireNonNullElse(counter.getId().getTag(tag), ""), count, Long::sum);
      }
    }
    return counts;
  }

  private Times times(String name) {
    HistogramSnapshot snapshot = meters.get(name).timer().takeSnapshot();
    double p99 = 0;
    for (ValueAtPercentile value : snapshot.percentileValues()) {
      if (value.percentile() == 0.99) {
        p99 = value.value(TimeUnit.MILLISECONDS);
      }
    }
    return new Times(
        snapshot.count(),
        snapshot.mean(TimeUnit.MILLISECONDS),
        p99,
        snapshot.max(TimeUnit.MILLISECONDS));
  }
}
