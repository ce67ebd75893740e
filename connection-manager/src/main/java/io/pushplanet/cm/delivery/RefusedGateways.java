package io.pushplanet.cm.delivery;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Who came to the trusted listener without the gateways' password. Whoever reaches the port may try as often as he likes, and
/// a loop must not write to the log each time: one line tells of all within ten seconds, and nothing of what they say.
/// Thread-safe, lock-free.
final class RefusedGateways {
  private static final Logger LOG = LoggerFactory.getLogger(RefusedGateways.class);
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Counter refused;
  private final AtomicLong untold = new AtomicLong();
  private final AtomicReference<@Nullable Line> last = new AtomicReference<>();

  private record Line(long nanos) {}

  RefusedGateways(MeterRegistry meters) {
    refused =
        Counter.builder("cm.delivery.gateways.refused")
            .description("CONNECTs at the gateways' port with a wrong user or password")
            .register(meters);
  }

  /// @param source where the last one came from; null once it is gone
  void count(@Nullable InetAddress source, long nowNanos) {
    refused.increment();
    untold.incrementAndGet();
    var before = last.get();
    boolean quiet = before != null && nowNanos - before.nanos() < QUIET_NANOS;
    if (!quiet && last.compareAndSet(before, new Line(nowNanos))) {
      LOG.warn(
          "event=gateway_refused source={} times={} meaning=\"wrong user or password at cm.gateway-port\"",
          source == null ? "gone" : source.getHostAddress(),
          untold.getAndSet(0));
    }
  }
}
