package io.pushplanet.dispatcher.route;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.DeviceTokens;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.route.DeviceRoute;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/// Finds the routes of devices: in Redis, and those that Redis does not have (or all, while it is
/// away) in MySQL. Thread-safe.
@Component
public class RouteLookup {
  private static final Logger LOG = LoggerFactory.getLogger(RouteLookup.class);
  private static final int MAX_PER_STATEMENT = 500;

  private final RouteStore store;
  private final RouteMapper mapper;
  private final LongSupplier nanos;
  private final Counter hits;
  private final Counter misses;
  private final Counter failures;

  @Autowired
  RouteLookup(RouteStore store, RouteMapper mapper, MeterRegistry meters) {
    this(store, mapper, System::nanoTime, meters);
  }

  RouteLookup(RouteStore store, RouteMapper mapper, LongSupplier nanos, MeterRegistry meters) {
    this.store = store;
    this.mapper = mapper;
    this.nanos = nanos;
    this.hits = meters.counter("pushplanet.routes", "result", "hit");
    this.misses = meters.counter("pushplanet.routes", "result", "miss");
    this.failures = meters.counter("pushplanet.routes", "result", "redis_away");
  }

  /// The routes of the registered devices among these.
  public Map<DeviceId, DeviceRoute> find(AppId app, Collection<DeviceId> devices) {
    Map<DeviceId, DeviceRoute> found = HashMap.newHashMap(devices.size());
    boolean redis = true;
    try {
      store
          .find(devices.stream().map(device -> new DeviceKey(app, device)).toList())
          .forEach((key, route) -> found.put(key.device(), route));
      hits.increment(found.size());
    } catch (RedisUnavailable e) {
      failures.increment();
      redis = false;
    }
    List<DeviceId> missing = devices.stream().filter(device -> !found.containsKey(device)).toList();
    if (!missing.isEmpty()) {
      misses.increment(missing.size());
      found.putAll(fromDatabase(app, missing, redis));
    }
    return found;
  }

  private Map<DeviceId, DeviceRoute> fromDatabase(
      AppId app, List<DeviceId> devices, boolean redis) {
    Map<DeviceId, DeviceRoute> found = new HashMap<>();
    for (int from = 0; from < devices.size(); from += MAX_PER_STATEMENT) {
      List<DeviceId> some =
          devices.subList(from, Math.min(devices.size(), from + MAX_PER_STATEMENT));
      long beganNanos = nanos.getAsLong();
      Map<DeviceId, DeviceRoute> read =
          routes(mapper.find(app.value(), some.stream().map(DeviceId::value).sorted().toList()));
      if (redis && nanos.getAsLong() - beganNanos < RouteStore.FRESH.toNanos()) {
        keep(app, read);
      }
      found.putAll(read);
    }
    return found;
  }

  private void keep(AppId app, Map<DeviceId, DeviceRoute> routes) {
    Map<DeviceKey, DeviceRoute> keyed = HashMap.newHashMap(routes.size());
    routes.forEach((device, route) -> keyed.put(new DeviceKey(app, device), route));
    try {
      store.putIfAbsent(keyed);
    } catch (RedisUnavailable e) {
      LOG.debug("event=routes_not_kept reason=\"{}\"", e.getMessage());
    }
  }

  private static Map<DeviceId, DeviceRoute> routes(List<RouteMapper.Row> rows) {
    Map<String, List<RouteMapper.Row>> byDevice = new HashMap<>();
    rows.forEach(row -> byDevice.computeIfAbsent(row.deviceId(), id -> new ArrayList<>()).add(row));
    Map<DeviceId, DeviceRoute> routes = HashMap.newHashMap(byDevice.size());
    byDevice
        .values()
        .forEach(rowsOfOne -> {
          DeviceRoute route = route(rowsOfOne);
          routes.put(route.device(), route);
        });
    return routes;
  }

  private static DeviceRoute route(List<RouteMapper.Row> rows) {
    RouteMapper.Row first = rows.getFirst();
    DeviceTokens tokens = DeviceTokens.of(rows);
    return new DeviceRoute(
        new DeviceId(first.deviceId()),
        Platform.valueOf(first.platform().toUpperCase(Locale.ROOT)),
        first.mqtt(),
        tokens.apns(),
        tokens.fcm(),
        tokens.webpush(),
        tokens.hms());
  }
}
