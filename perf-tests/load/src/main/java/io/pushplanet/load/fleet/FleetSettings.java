package io.pushplanet.load.fleet;

import java.time.Duration;
import java.util.random.RandomGenerator;

/// @param keepAlive announced to the server; a ping is sent after half of it
/// @param firstPause before the first reconnect; doubles, jittered
/// @param longestPause between reconnects
/// @param mostConnecting handshakes at once, so that a fleet does not overrun the listener's
///     backlog
/// @param handshakeWithin from the TCP connect to the SUBACK
/// @param qos requested in SUBSCRIBE
/// @param forgets whether the session ends with the connection
/// @param looksEvery how often arrived bytes are read; zero: at once. A server on the same machine
///     wakes a waiting fleet with each write, on its own processor time; devices on other machines
///     do not cost it that
public record FleetSettings(
    Duration keepAlive,
    Duration firstPause,
    Duration longestPause,
    int mostConnecting,
    Duration handshakeWithin,
    int qos,
    boolean forgets,
    Duration looksEvery) {
  private static final int MAX_DOUBLINGS = 20;

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
    this(
        keepAlive,
        firstPause,
        longestPause,
        mostConnecting,
        handshakeWithin,
        1,
        false,
        Duration.ZERO);
  }

  public FleetSettings withKeepAlive(Duration other) {
    return new FleetSettings(
        other, firstPause, longestPause, mostConnecting, handshakeWithin, qos, forgets, looksEvery);
  }

  public FleetSettings subscribingAt(int other) {
    return new FleetSettings(
        keepAlive,
        firstPause,
        longestPause,
        mostConnecting,
        handshakeWithin,
        other,
        forgets,
        looksEvery);
  }

  public FleetSettings connectingAtOnce(int other) {
    return new FleetSettings(
        keepAlive, firstPause, longestPause, other, handshakeWithin, qos, forgets, looksEvery);
  }

  public FleetSettings forgetting() {
    return new FleetSettings(
        keepAlive,
        firstPause,
        longestPause,
        mostConnecting,
        handshakeWithin,
        qos,
        true,
        looksEvery);
  }

  public FleetSettings lookingEvery(Duration other) {
    return new FleetSettings(
        keepAlive, firstPause, longestPause, mostConnecting, handshakeWithin, qos, forgets, other);
  }

  /// How long a device waits before it reconnects: doubles with each failure up to the longest, and
  /// differs between devices.
  long pauseNanos(int failures, RandomGenerator random) {
    long longest =
        Math.min(longestPause.toNanos(), firstPause.toNanos() << Math.min(failures, MAX_DOUBLINGS));
    return longest / 2 + random.nextLong(longest / 2 + 1);
  }
}
