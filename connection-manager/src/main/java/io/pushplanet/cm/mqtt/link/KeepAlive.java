package io.pushplanet.cm.mqtt.link;

import io.pushplanet.cm.mqtt.MqttVersion;
import java.util.concurrent.TimeUnit;

/// How long a client may be silent. It promises one packet per `seconds`, and is disconnected after
/// one and a half times that
/// (https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901045). 0 means never.
///
/// An MQTT 5 client is given a value between [#SHORTEST] and [#LONGEST]: mobile networks forget
/// idle connections after minutes, while batteries need long pauses. A 3.1.1 client cannot be told,
/// so its own value applies. Within these limits a client may be given a value that its network has
/// proven ([io.pushplanet.cm.keepalive.Network]).
///
/// @param changed the client has to be told
public record KeepAlive(int seconds, boolean changed) {
  public static final int SHORTEST = 60;
  public static final int LONGEST = 30 * 60;

  public static KeepAlive of(MqttVersion version, int wished) {
    if (version == MqttVersion.V3_1_1) {
      return new KeepAlive(wished, false);
    }
    int granted = wished == 0 ? LONGEST : Math.clamp(wished, SHORTEST, LONGEST);
    return new KeepAlive(granted, granted != wished);
  }

  /// The keep-alive that tells the client `advised`, if that is another value.
  KeepAlive advised(int advised) {
    return advised == seconds ? this : new KeepAlive(advised, true);
  }

  /// Whether some seconds of delay would matter; only a 3.1.1 client can have such a keep-alive.
  static boolean isShort(int seconds) {
    return seconds > 0 && seconds < SHORTEST;
  }

  /// Whether a client with this keep-alive has been silent for too long.
  static boolean isOver(int seconds, long silentSinceNanos, long nowNanos) {
    return seconds > 0
        && nowNanos - silentSinceNanos > TimeUnit.MILLISECONDS.toNanos(seconds * 1_500L);
  }
}
