package io.pushplanet.cm.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import io.micrometer.core.instrument.distribution.ValueAtPercentile;
import io.pushplanet.cm.transport.gate.AcceptGate.Verdict;
import io.pushplanet.common.node.NodeFigures;
import io.pushplanet.common.node.NodeFigures.Bucket;
import io.pushplanet.common.node.NodeFigures.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
  private static final String ADMITTED = Verdict.ADMITTED.name().toLowerCase(Locale.ROOT);

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
        turnedAway(),
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

  private Map<String, Long> turnedAway() {
    Map<String, Long> verdicts = byTag("cm.transport.accepted", "verdict");
    verdicts.remove(ADMITTED);
    return verdicts;
  }

  private Times times(String name) {
    HistogramSnapshot snapshot = meters.get(name).timer().takeSnapshot();
    return new Times(
        snapshot.count(),
        snapshot.mean(TimeUnit.MILLISECONDS),
        percentile(snapshot, 0.5),
        percentile(snapshot, 0.99),
        snapshot.max(TimeUnit.MILLISECONDS),
        buckets(snapshot));
  }

  private static double percentile(HistogramSnapshot snapshot, double share) {
    for (ValueAtPercentile value : snapshot.percentileValues()) {
      if (value.percentile() == share) {
        return value.value(TimeUnit.MILLISECONDS);
      }
    }
    return 0;
  }

  /// One bucket per doubling. The meter's own bounds, of which there are some seventy, include each
  /// power of two in nanoseconds, or one less, so no time is counted in a wrong bucket.
  static List<Bucket> buckets(HistogramSnapshot snapshot) {
    var buckets = new ArrayList<Bucket>();
    double counted = 0;
    for (CountAtBucket upTo : snapshot.histogramCounts()) {
      if (isPowerOfTwo((long) upTo.bucket()) || isPowerOfTwo((long) upTo.bucket() + 1)) {
        buckets.add(
            new Bucket(upTo.bucket(TimeUnit.MILLISECONDS), (long) (upTo.count() - counted)));
        counted = upTo.count();
      }
    }
    // A time that was recorded between the two readings is in one of them only.
    buckets.add(new Bucket(null, (long) Math.max(0, snapshot.count() - counted)));
    return buckets;
  }

  private static boolean isPowerOfTwo(long value) {
    return Long.bitCount(value) == 1;
  }
}
