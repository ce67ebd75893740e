package io.pushplanet.cm.session;

import io.lettuce.core.RedisException;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.util.Optional;

/// The subscriptions of persistent sessions, in Redis, so that a device may come back to any node without subscribing
/// again. Losing Redis loses them: the device is then told "session present = 0" and subscribes again, as the protocol
/// wants; no message is lost, they are in the inbox. Thread-safe; blocks at most two seconds.
final class SessionMemory {
  /// While a device is connected its session does not age; the longest that a session may outlive its connection.
  static final Duration LONGEST = Duration.ofDays(30);

  private final StatefulRedisConnection<String, String> redis;

  SessionMemory(StatefulRedisConnection<String, String> redis) {
    this.redis = redis;
  }

  Optional<Subscription> recall(DeviceKey device) {
    return Optional.ofNullable(redis.sync().get(name(device))).map(Subscription::parse);
  }

  void remember(DeviceKey device, Subscription subscription, Duration kept) throws RedisException {
    redis.sync().set(name(device), subscription.text(), SetArgs.Builder.px(kept));
  }

  /// The connection ended. Never brings back what a later connection has forgotten.
  void age(DeviceKey device, Duration kept) {
    redis.sync().pexpire(name(device), kept);
  }

  void forget(DeviceKey device) {
    redis.sync().del(name(device));
  }

  private static String name(DeviceKey device) {
    return "mqtt-session:" + device.app().value() + "/" + device.device().value();
  }
}
