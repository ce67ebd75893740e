package io.pushplanet.common.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Logs an outage of Redis while a process tries to connect: when it begins, at most once in
/// [#EVERY] while it lasts, and when it is over. Not thread-safe: attempts follow one another.
final class OutageLog {
  static final Duration EVERY = Duration.ofSeconds(30);

  private static final Logger LOG = LoggerFactory.getLogger(OutageLog.class);

  private final LongSupplier nanoTime;
  private long failures;
  private long beganNanos;
  private long loggedNanos;

  /// @param nanoTime never set, unlike a clock
  OutageLog(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /// An attempt to connect failed.
  void failed(Throwable why) {
    long now = nanoTime.getAsLong();
    failures++;
    if (failures == 1) {
      beganNanos = now;
    } else if (now - loggedNanos < EVERY.toNanos()) {
      return;
    }
    loggedNanos = now;
    LOG.warn(
        "event=redis_connect_failed attempts={} seconds={} reason=\"{}\"",
        failures,
        secondsUntil(now),
        why.toString());
  }

  /// An attempt to connect succeeded. Says nothing when none had failed before.
  void connected() {
    if (failures > 0) {
      LOG.info(
          "event=redis_connected failed_attempts={} seconds={}",
          failures,
          secondsUntil(nanoTime.getAsLong()));
      failures = 0;
    }
  }

  private long secondsUntil(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos - beganNanos);
  }
}
