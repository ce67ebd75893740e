package io.pushplanet.cm.session;

import java.time.Duration;

/// What the device and this node agreed on at CONNECT.
///
/// @param window messages in flight at once: the smaller of the client's Receive Maximum and ours
/// @param largestPacket the client's Maximum Packet Size; longer packets are not sent
/// @param expirySeconds how long the session outlives the connection; 0 ends it with the connection
public record SessionTerms(int window, long largestPacket, long expirySeconds) {
  /// The longest time that a session outlives its connection; an MQTT 5 client that asked for more
  /// is told.
  public static final Duration LONGEST_EXPIRY = Duration.ofDays(30);

  public boolean isPersistent() {
    return expirySeconds > 0;
  }
}
