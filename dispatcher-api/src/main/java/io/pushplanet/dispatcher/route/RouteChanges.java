package io.pushplanet.dispatcher.route;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.debt.RedisDebts;
import java.util.Collection;
import org.springframework.stereotype.Component;

/// Deletes routes in Redis after their rows changed. While Redis is away, the devices are kept
/// here, and their routes are deleted when Redis is back ([RedisDebts]). Thread-safe.
@Component
public class RouteChanges implements AutoCloseable {
  private static final int AT_ONCE = 500;

  private final RouteStore store;
  private final RedisDebts debts;

  RouteChanges(RouteStore store, MeterRegistry meters) {
    this.store = store;
    this.debts = new RedisDebts("routes", AT_ONCE, store::forget, meters);
    debts.start();
  }

  /// Call it after the commit.
  public void forget(Collection<DeviceKey> devices) {
    try {
      store.forget(devices);
    } catch (RedisUnavailable away) {
      debts.owe(devices, away);
    }
  }

  @Override
  public void close() {
    debts.close();
  }
}
