package io.pushplanet.common.session;

import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.Script;

/// Devices with a new user, who must not get messages for the former one. Thread-safe; calls block
/// at most [RedisLink#DEADLINE] and throw [RedisUnavailable] past it.
public final class Handovers {
  /// ARGV: the device. Its node ends the session when it receives the notice, so the node's own
  /// writes to Redis about this session follow this script.
  private static final Script HAND_OVER =
      Script.of(
          SessionDirectory.FUNCTIONS
              + """
              local device = ARGV[1]
              redis.call('DEL', 'mqtt-session:' .. device)
              local epoch, node = string.match(text('session:' .. device) or '', '^(%d+)|(.+)$')
              if node then redis.call('PUBLISH', 'takeover:' .. node, 'handover|' .. epoch .. '|' .. device) end
              return {}
              """);

  private static final String[] NO_KEYS = {};

  private final RedisLink redis;

  public Handovers(RedisLink redis) {
    this.redis = redis;
  }

  /// Makes the device start a new session ("session present = 0"): its stored MQTT session is
  /// removed and its connection is closed, so that neither its unacknowledged messages nor those
  /// that its node has read are delivered any more. A second call costs the device another connect.
  public void handOver(DeviceKey device) {
    redis.run(HAND_OVER, NO_KEYS, device.text());
  }
}
