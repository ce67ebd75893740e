package io.pushplanet.cm.transport;

import com.sun.management.GarbageCollectorMXBean;
import com.sun.management.GcInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// Whether the heap was nearly full of live objects after the last collection. A reading is valid
/// for a few seconds only: a node that accepts no devices makes no garbage, is not collected, and
/// would otherwise rely on an old reading for ever. Written by one thread, read by all.
public final class Heap {
  private static final double FULL = 0.92;
  private static final long READING_VALID_MILLIS = TimeUnit.SECONDS.toMillis(5);

  private final List<GarbageCollectorMXBean> collectors;
  private final Set<String> pools;
  private volatile boolean full;

  public Heap() {
    // G1's concurrent cycles and ZGC's pauses report a size that still includes garbage.
    this.collectors =
        ManagementFactory.getPlatformMXBeans(GarbageCollectorMXBean.class).stream()
            .filter(bean -> !bean.getName().matches(".*(Concurrent|Pauses).*"))
            .toList();
    this.pools =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toSet());
  }

  public boolean isFull() {
    return full;
  }

  /// Reads the collectors' last results.
  void look() {
    long uptime = ManagementFactory.getRuntimeMXBean().getUptime();
    long newest = Long.MIN_VALUE;
    long used = 0;
    for (GarbageCollectorMXBean collector : collectors) {
      GcInfo last = collector.getLastGcInfo();
      if (last != null && last.getEndTime() > newest) {
        newest = last.getEndTime();
        used =
            last.getMemoryUsageAfterGc().entrySet().stream()
                .filter(pool -> pools.contains(pool.getKey()))
                .mapToLong(pool -> pool.getValue().getUsed())
                .sum();
      }
    }
    read(
        used,
        Runtime.getRuntime().maxMemory(),
        newest == Long.MIN_VALUE ? Long.MAX_VALUE : uptime - newest);
  }

  void read(long usedAfterCollection, long most, long ageMillis) {
    full = ageMillis < READING_VALID_MILLIS && usedAfterCollection > most * FULL;
  }
}
