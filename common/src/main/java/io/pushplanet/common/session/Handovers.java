package io.pushplanet.common.session;

/// Devices that have another user, who must not get what was on its way to the former one. Thread-safe; calls block at most
/// [SessionDirectory#DEADLINE] and throw [DirectoryUnavailable] past it.
public final class Handovers {
  /// ARGV the device. A node that has it ends its session, and what it has to say of that in Redis comes behind this.
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

  /// Has the device begin anew ("session present = 0"): nothing of its MQTT session is remembered, and a connection that it has is ended, so that
  /// neither what is unacknowledged on it nor what its node has read is brought any more. Told again it costs the device another connect.
  public void handOver(DeviceKey device) {
    redis.run(HAND_OVER, NO_KEYS, device.text());
  }
}
