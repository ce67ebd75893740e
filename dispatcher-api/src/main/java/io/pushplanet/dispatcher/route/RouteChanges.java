package io.pushplanet.dispatcher.route;

import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RouteStore;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// Forgets routes in Redis after their rows changed. While Redis is away the devices are remembered here, at most [#MOST_REMEMBERED] of them,
/// and their routes forgotten when it is back. Thread-safe.
@Component
public class RouteChanges implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RouteChanges.class);
  private static final int MOST_REMEMBERED = 100_000;
  private static final int AT_ONCE = 500;

  private final RouteStore store;
  private final Set<DeviceKey> owed = ConcurrentHashMap.newKeySet();
  private final CountDownLatch closed = new CountDownLatch(1);

  RouteChanges(RouteStore store) {
    this.store = store;
    Thread.ofVirtual().name("owed-routes").start(this::payDebts);
  }

  /// Call it after the commit.
  public void forget(Collection<DeviceKey> devices) {
    try {
      store.forget(devices);
    } catch (DirectoryUnavailable e) {
      if (owed.size() < MOST_REMEMBERED) {
        owed.addAll(devices);
      } else {
        LOG.error("event=routes_not_forgotten devices={}", devices.size());
      }
    }
  }

  @Override
  public void close() {
    closed.countDown();
    if (!owed.isEmpty()) {
      LOG.error("event=redis_owed_at_stop devices={}", owed.size());
    }
  }

  private void payDebts() {
    try {
      while (!closed.await(200, TimeUnit.MILLISECONDS)) {
        List<DeviceKey> some = owed.stream().limit(AT_ONCE).toList();
        if (!some.isEmpty()) {
          pay(some);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void pay(List<DeviceKey> some) {
    // First: what is owed anew meanwhile stays.
    some.forEach(owed::remove);
    try {
      store.forget(some);
    } catch (DirectoryUnavailable e) {
      owed.addAll(some);
      LOG.debug("event=routes_still_owed devices={}", owed.size());
    } catch (RuntimeException bug) {
      owed.addAll(some);
      LOG.error("event=owed_routes_error devices={}", owed.size(), bug);
    }
  }
}
