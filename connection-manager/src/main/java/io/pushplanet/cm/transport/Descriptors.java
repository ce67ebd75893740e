package io.pushplanet.cm.transport;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicInteger;

/// How many of the process's file descriptors this transport holds, and whether so few are left
/// that devices have to wait: gateways, the connections to Redis, MySQL and RabbitMQ, and the
/// management port need some, too. Counts the transport's own sockets, because asking the kernel
/// would list all descriptors. Thread-safe, lock-free.
public final class Descriptors {
  /// Devices leave so many to others. A node has some 150 files and sockets of its own.
  private static final int RESERVE = 256;

  private final long limit;
  private final AtomicInteger held = new AtomicInteger();

  /// @param limit of the process
  Descriptors(long limit) {
    this.limit = limit;
  }

  /// Those of this process; without a limit where the system does not tell one.
  public static Descriptors ofThisProcess() {
    return new Descriptors(
        ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                && unix.getMaxFileDescriptorCount() > 0
            ? unix.getMaxFileDescriptorCount()
            : Long.MAX_VALUE);
  }

  public long limit() {
    return limit;
  }

  /// How many descriptors devices leave to others: a quarter of a small limit.
  public long reserve() {
    return Math.min(RESERVE, limit / 4);
  }

  /// Whether so many devices may connect.
  public boolean suffice(int devices) {
    return devices <= limit - reserve();
  }

  void opened(int count) {
    held.addAndGet(count);
  }

  void closed(int count) {
    held.addAndGet(-count);
  }

  /// Whether this transport holds all descriptors but the reserve.
  boolean areScarce() {
    return held.get() >= limit - reserve();
  }
}
