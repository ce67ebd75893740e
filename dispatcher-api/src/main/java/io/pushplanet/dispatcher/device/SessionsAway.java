package io.pushplanet.dispatcher.device;

import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.Script;
import io.pushplanet.common.session.SessionDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// MQTT sessions that outlive their connections: a node has what was sent on them and not acknowledged, and would send it again.
/// Thread-safe.
@Component
class SessionsAway {
  private static final Logger LOG = LoggerFactory.getLogger(SessionsAway.class);

  /// ARGV the device. Without what is remembered of it a session is none ("session present = 0"), and what it had unacknowledged is dropped.
  private static final Script FORGET =
      Script.of(
          SessionDirectory.FUNCTIONS
              + """
              if not text('session:' .. ARGV[1]) then redis.call('DEL', 'mqtt-session:' .. ARGV[1]) end
              return {}
              """);

  private static final String[] NO_KEYS = {};

  private final RedisLink redis;

  SessionsAway(RedisLink redis) {
    this.redis = redis;
  }

  /// The device begins anew when it comes next, if it is not connected. While Redis is away it goes on.
  void forget(DeviceKey device) {
    try {
      redis.run(FORGET, NO_KEYS, device.app().value() + "/" + device.device().value());
    } catch (DirectoryUnavailable e) {
      LOG.warn(
          "event=session_not_forgotten app={} device={} reason=\"{}\"",
          device.app().value(),
          device.device().value(),
          e.toString());
    }
  }
}
