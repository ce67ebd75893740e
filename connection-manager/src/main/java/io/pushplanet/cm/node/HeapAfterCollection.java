package io.pushplanet.cm.node;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;

/// Measures the heap in use after the last garbage collection, and estimates the heap of a session
/// from it. At any other time most of the heap is garbage. Thread-safe.
final class HeapAfterCollection implements NotificationListener, AutoCloseable {
  private static final int NEXT_TO_NOTHING = 100;
  private static final int WORTH_DIVIDING = 1_000;

  private final IntSupplier sessions;
  private final Set<String> heapPools;
  private final List<NotificationEmitter> collectors = new ArrayList<>();
  private volatile long bytes;
  private volatile long bytesWithoutSessions;

  HeapAfterCollection(IntSupplier sessions) {
    this.sessions = sessions;
    this.heapPools =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toUnmodifiableSet());
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter emitter) {
        emitter.addNotificationListener(this, null, null);
        collectors.add(emitter);
      }
    }
  }

  /// Bytes in use after the last collection; 0 before the first.
  long bytes() {
    return bytes;
  }

  /// Heap per session, without the heap of the process itself; empty while there are too few
  /// sessions for an estimate.
  OptionalLong perSession() {
    int count = sessions.getAsInt();
    long own = bytesWithoutSessions;
    return count < WORTH_DIVIDING || own == 0
        ? OptionalLong.empty()
        : OptionalLong.of(Math.max(0, bytes - own) / count);
  }

  @Override
  public void handleNotification(Notification notification, @Nullable Object handback) {
    if (notification
            .getType()
            .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)
        && notification.getUserData() instanceof CompositeData data) {
      collected(GarbageCollectionNotificationInfo.from(data));
    }
  }

  private void collected(GarbageCollectionNotificationInfo collection) {
    long used =
        collection.getGcInfo().getMemoryUsageAfterGc().entrySet().stream()
            .filter(pool -> heapPools.contains(pool.getKey()))
            .mapToLong(pool -> pool.getValue().getUsed())
            .sum();
    bytes = used;
    if (sessions.getAsInt() < NEXT_TO_NOTHING) {
      bytesWithoutSessions = used;
    }
  }

  @Override
  public void close() {
    for (NotificationEmitter collector : collectors) {
      try {
        collector.removeNotificationListener(this);
      } catch (ListenerNotFoundException gone) {
        // It is removed already.
      }
    }
  }
}
