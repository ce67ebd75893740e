package io.pushplanet.cm.delivery;

import io.pushplanet.common.access.Secret;
import java.time.Duration;
import java.time.Instant;

/// @param mostOpenTargets targets that wait for their devices, over all gateways; more are refused
/// @param framesWaiting frames of one gateway that wait to be read: the Receive Maximum it is told
/// @param broadcastBytes that broadcasts may have in flight, per loop
/// @param longestWait how long a device's acknowledgement is waited for at most, whatever the frame says
public record DeliverySettings(
    String user,
    Secret password,
    int mostOpenTargets,
    int framesWaiting,
    long broadcastBytes,
    Duration longestWait) {
  /// How long a frame's devices may take.
  Duration patience(Instant now, Instant answerBy) {
    var wished = Duration.between(now, answerBy);
    if (wished.isNegative()) {
      return Duration.ZERO;
    }
    return wished.compareTo(longestWait) > 0 ? longestWait : wished;
  }
}
