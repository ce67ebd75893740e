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

/// Counts and logs clients of the trusted listener that sent a wrong password. A client that can
/// reach the port may try any number of times, and a loop must not log each attempt: one line in
/// ten seconds reports all of them, without their data. Thread-safe, lock-free.
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

  /// @param source the address of the last attempt; null once its socket has closed
  void count(@Nullable InetAddress source, long nowNanos) {
    refused.increment();
    untold.incrementAndGet();
    Line before = last.get();
    boolean quiet = before != null && nowNanos - before.nanos() < QUIET_NANOS;
    if (!quiet && last.compareAndSet(before, new Line(nowNanos))) {
      LOG.warn(
          "event=gateway_refused source={} times={} meaning=\"wrong user or password at cm.gateway-port\"",
          source == null ? "gone" : source.getHostAddress(),
          untold.getAndSet(0));
    }
  }
}
