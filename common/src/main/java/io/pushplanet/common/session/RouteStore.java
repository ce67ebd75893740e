package io.pushplanet.common.session;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Device routes in Redis. MySQL has the truth: whoever misses one here reads it there and puts it; whoever changes a
/// device's rows forgets it here after the commit. Thread-safe; calls block about [SessionDirectory#DEADLINE] at most.
///
/// A forgotten route leaves an empty mark for [#FORGOTTEN]; [#putIfAbsent] does not overwrite it. So a reader that read
/// MySQL just before a change cannot put the old route back, as long as it puts within that time.
public final class RouteStore {
  private static final String ROUTE = "route:";
  private static final Duration KEPT = Duration.ofDays(7);

  /// How long after a change no route that was read before it can be put back.
  public static final Duration FORGOTTEN = Duration.ofSeconds(2);

  private final Supplier<RedisAsyncCommands<String, String>> redis;
  private final SharedReads reads;

  public RouteStore(StatefulRedisConnection<String, String> connection) {
    this(() -> connection);
  }

  /// Calls throw [DirectoryUnavailable] until Redis is reached for the first time.
  public RouteStore(RedisLink link) {
    this(link::connection);
  }

  private RouteStore(Supplier<StatefulRedisConnection<String, String>> connection) {
    this.redis = () -> connection.get().async();
    this.reads = new SharedReads(connection);
  }

  /// The routes that are here; the others are absent. One round trip, shared with other callers.
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

  /// What nobody here can read, such as what a newer version wrote before it was taken back, counts as absent: MySQL knows.
  private static @Nullable DeviceRoute read(String text) {
    try {
      return WireForm.read(text.getBytes(StandardCharsets.UTF_8), DeviceRoute.class);
    } catch (MalformedWire e) {
      return null;
    }
  }

  public void put(Map<DeviceKey, DeviceRoute> routes) {
    List<RedisFuture<?>> answers = new ArrayList<>();
    routes.forEach((device, route) -> {
      String text = new String(WireForm.write(route), StandardCharsets.UTF_8);
      answers.add(redis.get().set(ROUTE + device.text(), text, SetArgs.Builder.px(KEPT)));
    });
    answers.forEach(answer -> Redis.await(answer, SessionDirectory.DEADLINE));
  }

  /// As [#put], but leaves what is there, also the mark of a route just forgotten. For those who read MySQL on a miss.
  public void putIfAbsent(Map<DeviceKey, DeviceRoute> routes) {
    List<RedisFuture<?>> answers = new ArrayList<>();
    routes.forEach((device, route) -> {
      String text = new String(WireForm.write(route), StandardCharsets.UTF_8);
      answers.add(redis.get().set(ROUTE + device.text(), text, SetArgs.Builder.px(KEPT).nx()));
    });
    answers.forEach(answer -> Redis.await(answer, SessionDirectory.DEADLINE));
  }

  public void forget(Collection<DeviceKey> devices) {
    List<RedisFuture<?>> answers = new ArrayList<>();
    for (DeviceKey device : devices) {
      answers.add(redis.get().set(ROUTE + device.text(), "", SetArgs.Builder.px(FORGOTTEN)));
    }
    answers.forEach(answer -> Redis.await(answer, SessionDirectory.DEADLINE));
  }
}
