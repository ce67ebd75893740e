package io.pushplanet.cm.session;

import java.time.Duration;

/// @param window how many messages may be in flight per device
/// @param waiting how many messages may wait for room in a device's window
/// @param holdUntilSubscribed how long a message waits for a device that has connected but not
///     subscribed
/// @param deadPathAfter a device is disconnected when nothing arrives from it for this long after a
///     QoS 1 publish; zero for never
/// @param acknowledgeWithin a device with a full window that has acknowledged nothing for this long
///     is unresponsive
public record SessionLimits(
    int window,
    int waiting,
    Duration holdUntilSubscribed,
    Duration deadPathAfter,
    Duration acknowledgeWithin) {
  public SessionLimits {
    if (window < 1 || window > 1_000 || waiting < 2) {
      throw new IllegalArgumentException(
          "cm.session.window must be 1 to 1000 and cm.session.waiting at least 2");
    }
  }
}
