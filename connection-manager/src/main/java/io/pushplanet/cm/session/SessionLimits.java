package io.pushplanet.cm.session;

import java.time.Duration;

/// @param window most messages in flight per device
/// @param waiting most messages that wait for room in a device's window
/// @param holdUntilSubscribed how long a message waits for a device that has connected but not yet subscribed
/// @param deadPathAfter a device from which nothing comes for so long after a publish at QoS 1 is given up; zero for never
/// @param acknowledgeWithin a device whose window is full and that has acknowledged nothing for so long is unresponsive
public record SessionLimits(
    int window,
    int waiting,
    Duration holdUntilSubscribed,
    Duration deadPathAfter,
    Duration acknowledgeWithin) {
  public SessionLimits {
    if (window < 1 || window > 1_000 || waiting < 1) {
      throw new IllegalArgumentException(
          "cm.session.window must be 1 to 1000 and cm.session.waiting at least 1");
    }
  }
}
