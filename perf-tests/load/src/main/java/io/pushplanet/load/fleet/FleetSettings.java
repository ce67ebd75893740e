package io.pushplanet.load.fleet;

import java.time.Duration;

/// @param keepAlive announced to the server; a ping goes out after half of it
/// @param firstPause before the first reconnect; doubles, jittered
/// @param longestPause between reconnects
/// @param mostConnecting handshakes at once, so that a fleet does not overrun the listener's backlog
/// @param handshakeWithin TCP connect to SUBACK
/// @param qos wished for in SUBSCRIBE
/// @param forgets whether the session ends with the connection
public record FleetSettings(
    Duration keepAlive,
    Duration firstPause,
    Duration longestPause,
    int mostConnecting,
    Duration handshakeWithin,
    int qos,
    boolean forgets) {
  public static final FleetSettings DEFAULT =
      new FleetSettings(
          Duration.ofSeconds(60),
          Duration.ofMillis(200),
          Duration.ofSeconds(3),
          200,
          Duration.ofSeconds(15));

  /// Subscribes at QoS 1, in a session that outlives the connection.
  public FleetSettings(
      Duration keepAlive,
      Duration firstPause,
      Duration longestPause,
      int mostConnecting,
      Duration handshakeWithin) {
    this(keepAlive, firstPause, longestPause, mostConnecting, handshakeWithin, 1, false);
  }

  public FleetSettings withKeepAlive(Duration other) {
    return new FleetSettings(
        other, firstPause, longestPause, mostConnecting, handshakeWithin, qos, forgets);
  }

  public FleetSettings subscribingAt(int other) {
    return new FleetSettings(
        keepAlive, firstPause, longestPause, mostConnecting, handshakeWithin, other, forgets);
  }

  public FleetSettings connectingAtOnce(int other) {
    return new FleetSettings(
        keepAlive, firstPause, longestPause, other, handshakeWithin, qos, forgets);
  }

  public FleetSettings forgetting() {
    return new FleetSettings(
        keepAlive, firstPause, longestPause, mostConnecting, handshakeWithin, qos, true);
  }
}
