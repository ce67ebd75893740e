package io.pushplanet.load.fleet;

import java.time.Duration;

/// @param keepAlive announced to the server; a ping goes out after half of it
/// @param firstPause before the first reconnect; doubles, jittered
/// @param longestPause between reconnects
/// @param mostConnecting handshakes at once, so that a fleet does not overrun the listener's backlog
/// @param handshakeWithin TCP connect to SUBACK
public record FleetSettings(
    Duration keepAlive,
    Duration firstPause,
    Duration longestPause,
    int mostConnecting,
    Duration handshakeWithin) {
  public static final FleetSettings DEFAULT =
      new FleetSettings(
          Duration.ofSeconds(60),
          Duration.ofMillis(200),
          Duration.ofSeconds(3),
          200,
          Duration.ofSeconds(15));
}
