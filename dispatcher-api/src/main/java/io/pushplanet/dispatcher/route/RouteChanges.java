package io.pushplanet.dispatcher.route;

import io.pushplanet.common.session.Denials;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RouteStore;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// Forgets routes in Redis after their rows changed, and denies the passwords of deleted devices there. While Redis is away the devices
/// are remembered here, at most [#MOST_REMEMBERED] of them, and both is done when it is back. Thread-safe.
@Component
public class RouteChanges implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RouteChanges.class);
  private static final int MOST_REMEMBERED = 100_000;
  private static final int AT_ONCE = 500;
  private static final long ONLY_ITS_ROUTE = 0;

  private final RouteStore store;
  private final Denials denials;
  // With the end of the last password that is to be denied.
  private final Map<DeviceKey, Long> owed = new ConcurrentHashMap<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  RouteChanges(RouteStore store, Denials denials) {
    this.store = store;
    this.denials = denials;
    Thread.ofVirtual().name("owed-routes").start(this::payDebts);
  }

  /// Call it after the commit.
  public void forget(Collection<DeviceKey> devices) {
    try {
      store.forget(devices);
    } catch (DirectoryUnavailable e) {
      if (owed.size() < MOST_REMEMBERED) {
        devices.forEach(device -> owed.merge(device, ONLY_ITS_ROUTE, Math::max));
      } else {
        LOG.error("event=routes_not_forgotten devices={}", devices.size());
      }
    }
  }

  /// Denies the passwords of a deleted device that end in this second of the epoch, or sooner. Call it before the commit: whoever is
  /// killed in between leaves a device that must register again, and none that nobody knows and that may come.
  ///
  /// @throws DirectoryUnavailable where too many are owed already: what cannot be kept is not promised
  public void deny(DeviceKey device, long ends) {
    if (owed.isEmpty() && isDenied(device, ends)) {
      return;
    }
    // Who waits for Redis here holds a row and a connection: once one has waited in vain, no other
    // does.
    if (owed.size() >= MOST_REMEMBERED) {
      throw new DirectoryUnavailable("Redis is away, and owed too much already", null);
    }
    owed.merge(device, ends, Math::max);
  }

  private boolean isDenied(DeviceKey device, long ends) {
    try {
      denials.deny(device, ends);
      return true;
    } catch (DirectoryUnavailable e) {
      return false;
    }
  }

  /// The second of the epoch up to which passwords of this device are denied, as far as is known here; 0 for none.
  public long deniedUntil(DeviceKey device) {
    long here = owed.getOrDefault(device, 0L);
    try {
      return Math.max(here, denials.until(device));
    } catch (DirectoryUnavailable e) {
      return here;
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
        List<Map.Entry<DeviceKey, Long>> some =
            owed.entrySet().stream().limit(AT_ONCE).map(Map.Entry::copyOf).toList();
        if (!some.isEmpty()) {
          pay(some);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void pay(List<Map.Entry<DeviceKey, Long>> some) {
    try {
      store.forget(some.stream().map(Map.Entry::getKey).toList());
      for (Map.Entry<DeviceKey, Long> debt : some) {
        if (debt.getValue() != ONLY_ITS_ROUTE) {
          denials.deny(debt.getKey(), debt.getValue());
        }
        owed.remove(debt.getKey(), debt.getValue());
      }
    } catch (DirectoryUnavailable e) {
      LOG.debug("event=routes_still_owed devices={}", owed.size());
    } catch (RuntimeException bug) {
      LOG.error("event=owed_routes_error devices={}", owed.size(), bug);
    }
  }
}
