package io.pushplanet.common.session;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Device routes in Redis. MySQL has the truth: whoever misses one here reads it there and puts it; whoever changes a
/// device's rows forgets it here after the commit. Thread-safe; calls block at most [SessionDirectory#DEADLINE].
public final class RouteStore {
  private static final String ROUTE = "route:";
  private static final Duration KEPT = Duration.ofDays(7);

  private final RedisAsyncCommands<String, String> redis;

  public RouteStore(StatefulRedisConnection<String, String> connection) {
    this.redis = connection.async();
  }

  /// The routes that are here; the others are absent. One round trip.
  public Map<DeviceKey, DeviceRoute> find(Collection<DeviceKey> devices) {
    if (devices.isEmpty()) {
      return Map.of();
    }
    List<DeviceKey> order = List.copyOf(devices);
    String[] names = order.stream().map(device -> ROUTE + device.text()).toArray(String[]::new);
    Map<DeviceKey, DeviceRoute> found = HashMap.newHashMap(order.size());
    var values = Redis.await(redis.mget(names), SessionDirectory.DEADLINE);
    for (int i = 0; i < order.size(); i++) {
      if (values.get(i).hasValue()) {
        byte[] text = values.get(i).getValue().getBytes(StandardCharsets.UTF_8);
        found.put(order.get(i), WireForm.read(text, DeviceRoute.class));
      }
    }
    return found;
  }

  public void put(Map<DeviceKey, DeviceRoute> routes) {
    List<RedisFuture<?>> answers = new ArrayList<>();
    routes.forEach((device, route) -> {
      String text = new String(WireForm.write(route), StandardCharsets.UTF_8);
      answers.add(redis.set(ROUTE + device.text(), text, SetArgs.Builder.px(KEPT)));
    });
    answers.forEach(answer -> Redis.await(answer, SessionDirectory.DEADLINE));
  }

  public void forget(Collection<DeviceKey> devices) {
    if (!devices.isEmpty()) {
      String[] names = devices.stream().map(device -> ROUTE + device.text()).toArray(String[]::new);
      Redis.await(redis.del(names), SessionDirectory.DEADLINE);
    }
  }
}
