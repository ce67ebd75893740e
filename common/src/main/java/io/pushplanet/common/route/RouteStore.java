package io.pushplanet.common.route;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.SharedReads;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Device routes in Redis. MySQL is authoritative: a reader that misses a route here reads it there
/// and stores it here, and a writer that changes a device's rows removes its route here after the
/// commit. Thread-safe; calls block for about [RedisLink#DEADLINE] at most.
///
/// A removed route leaves an empty mark for [#FORGOTTEN], which [#putIfAbsent] does not overwrite.
/// So a reader that read MySQL just before a change cannot store the old route, as long as it
/// begins to store it within [#FRESH].
public final class RouteStore {
  private static final String ROUTE = "route:";
  private static final Duration KEPT = Duration.ofDays(7);

  /// A Redis that hangs carries a reader's command out late, though seldom as late as this.
  private static final Duration FORGOTTEN = Duration.ofSeconds(10);

  /// For how long a reader may store what it has read.
  public static final Duration FRESH = Duration.ofSeconds(1);

  private final RedisLink redis;
  private final SharedReads reads;

  /// Calls throw [RedisUnavailable] until the first connection to Redis.
  public RouteStore(RedisLink redis) {
    this.redis = redis;
    this.reads = new SharedReads(redis);
  }

  /// The stored routes; devices without one are absent. One round trip, shared with other callers.
  public Map<DeviceKey, DeviceRoute> find(Collection<DeviceKey> devices) {
    if (devices.isEmpty()) {
      return Map.of();
    }
    List<DeviceKey> order = List.copyOf(devices);
    Map<DeviceKey, DeviceRoute> found = HashMap.newHashMap(order.size());
    List<@Nullable String> values =
        reads.values(order.stream().map(device -> ROUTE + device.text()).toList());
    for (int i = 0; i < order.size(); i++) {
      String text = values.get(i);
      if (text != null && !text.isEmpty()) {
        DeviceRoute route = read(text);
        if (route != null) {
          found.put(order.get(i), route);
        }
      }
    }
    return found;
  }

  /// An unreadable route, such as one that a newer version wrote before it was rolled back, counts
  /// as absent: MySQL has it.
  private static @Nullable DeviceRoute read(String text) {
    try {
      return WireForm.read(text.getBytes(StandardCharsets.UTF_8), DeviceRoute.class);
    } catch (MalformedWire e) {
      return null;
    }
  }

  public void put(Map<DeviceKey, DeviceRoute> routes) {
    store(routes, SetArgs.Builder.px(KEPT));
  }

  /// As [#put], but keeps a stored route, and the mark of a route just removed. For readers that
  /// read MySQL on a miss.
  public void putIfAbsent(Map<DeviceKey, DeviceRoute> routes) {
    store(routes, SetArgs.Builder.px(KEPT).nx());
  }

  private void store(Map<DeviceKey, DeviceRoute> routes, SetArgs how) {
    List<RedisFuture<?>> answers = new ArrayList<>();
    routes.forEach((device, route) -> {
      String text = new String(WireForm.write(route), StandardCharsets.UTF_8);
      answers.add(redis.connection().async().set(ROUTE + device.text(), text, how));
    });
    answers.forEach(RedisLink::await);
  }

  public void forget(Collection<DeviceKey> devices) {
    List<RedisFuture<?>> answers = new ArrayList<>();
    for (DeviceKey device : devices) {
      answers.add(
          redis.connection().async().set(ROUTE + device.text(), "", SetArgs.Builder.px(FORGOTTEN)));
    }
    answers.forEach(RedisLink::await);
  }
}
