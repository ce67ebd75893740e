package io.pushplanet.load.measure;

import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.fleet.FleetCounts;
import io.pushplanet.load.node.Gateway;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// The effect of other traffic on quiet devices: the time of one message from a gateway to a quiet
/// device until its outcome arrives, one message after the other. While a message has no outcome
/// the next ones are not sent, but count with the time that they would have waited. Otherwise a
/// node that stands still for two seconds would be one slow message among thousands
/// (https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/Histogram.html#recordValueWithExpectedInterval(long,long)).
/// For one thread.
public final class Neighbours {
  private static final long STALLED_NANOS = Duration.ofSeconds(30).toNanos();
  private static final long PAUSE_NANOS = Duration.ofMillis(2).toNanos();

  /// The interval between two messages while deliveries take their usual time.
  static final long INTERVAL_NANOS = Duration.ofMillis(3).toNanos();

  /// The messages of one and a half seconds.
  static final int WINDOW = 500;

  private final Gateway gateway;
  private final String prefix;
  private final int devices;
  private long sent;

  /// @param prefix of a connected fleet's device ids
  public Neighbours(Gateway gateway, String prefix, int devices) {
    this.gateway = gateway;
    this.prefix = prefix;
    this.devices = devices;
  }

  /// The nanoseconds of each message, and of those that would have been sent meanwhile.
  public List<Long> deliver(BooleanSupplier on) {
    List<Long> took = new ArrayList<>();
    for (int message = 0; on.getAsBoolean(); message++) {
      long ended = gateway.delivered() + gateway.otherwise();
      long start = System.nanoTime();
      gateway.send(List.of(FleetProcess.device(prefix, message % devices)));
      while (gateway.delivered() + gateway.otherwise() == ended) {
        if (System.nanoTime() - start > STALLED_NANOS) {
          throw new IllegalStateException("a delivery has had no outcome for 30 s");
        }
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(50));
      }
      sent++;
      add(took, System.nanoTime() - start);
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return took;
  }

  static void add(List<Long> took, long nanos) {
    took.add(nanos);
    for (long late = nanos - INTERVAL_NANOS; late >= INTERVAL_NANOS; late -= INTERVAL_NANOS) {
      took.add(late);
    }
  }

  /// Messages with another outcome than delivered, and those that are missing or came again. They
  /// may have made the times better.
  ///
  /// @param got by the fleet, which has no other messages
  public long missed(FleetCounts got) {
    return gateway.otherwise() + got.missed(sent);
  }

  /// How many messages there were.
  public long sent() {
    return sent;
  }

  public List<Long> deliver(Duration length) {
    long until = System.nanoTime() + length.toNanos();
    return deliver(() -> System.nanoTime() - until < 0);
  }

  /// The 99th percentile of neighbours, in milliseconds, and the longest delivery.
  ///
  /// @param usual the median over the windows of [#WINDOW] messages each, so that a rare event is
  ///     in one window only. RabbitMQ starts another Erlang VM each minute, which takes a processor
  ///     for half a second
  /// @param overall of all messages
  public record P99(double usual, double overall, double longest) {
    public static P99 of(List<Long> nanos) {
      List<Double> windows = new ArrayList<>();
      for (int from = 0; from + WINDOW <= nanos.size(); from += WINDOW) {
        windows.add(percentile(nanos.subList(from, from + WINDOW), 99));
      }
      Collections.sort(windows);
      double overall = percentile(nanos, 99);
      return new P99(
          windows.isEmpty() ? overall : windows.get(windows.size() / 2),
          overall,
          percentile(nanos, 100));
    }
  }

  /// Deliveries before and during the traffic, side by side.
  ///
  /// @param times the allowed ratio of the 99th percentiles
  public static List<Report.Row> rows(
      String what, List<Long> before, List<Long> meanwhile, double times) {
    P99 calm = P99.of(before);
    P99 p99 = P99.of(meanwhile);
    return List.of(
        Report.Row.of(what + ", p50 before", "ms", percentile(before, 50)),
        Report.Row.of(what + ", p50 meanwhile", "ms", percentile(meanwhile, 50)),
        Report.Row.of(what + ", p99 before", "ms", calm.usual()),
        Report.Row.of(what + ", p99 meanwhile", "ms", p99.usual(), times * calm.usual()),
        Report.Row.of(what + ", p99 over all, before", "ms", calm.overall()),
        Report.Row.of(
            what + ", p99 over all, meanwhile", "ms", p99.overall(), times * calm.overall()),
        Report.Row.of(what + ", the longest before", "ms", calm.longest()),
        Report.Row.of(what + ", the longest meanwhile", "ms", p99.longest()));
  }

  /// In milliseconds; 0 without messages.
  public static double percentile(List<Long> nanos, int percent) {
    List<Long> sorted = new ArrayList<>(nanos);
    Collections.sort(sorted);
    return sorted.isEmpty() ? 0 : sorted.get((sorted.size() - 1) * percent / 100) / 1e6;
  }
}
