package io.pushplanet.cm.delivery;

import io.pushplanet.common.access.Secret;
import java.time.Duration;
import java.time.Instant;

/// @param maxOpenTargets how many targets may wait for their devices, over all gateways; further
///     ones are refused
/// @param framesWaiting how many frames of one gateway may wait to be read: the Receive Maximum
///     that it is told
/// @param broadcastBytes how many bytes of broadcasts may be in flight per loop
/// @param longestWait how long a frame can wait for a device's acknowledgement at most
public record DeliverySettings(
    String user,
    Secret password,
    int maxOpenTargets,
    int framesWaiting,
    long broadcastBytes,
    Duration longestWait) {
  /// How long a frame waits for its devices.
  Duration patience(Instant now, Instant answerBy) {
    var wished = Duration.between(now, answerBy);
    if (wished.isNegative()) {
      return Duration.ZERO;
    }
    return wished.compareTo(longestWait) > 0 ? longestWait : wished;
  }
}
