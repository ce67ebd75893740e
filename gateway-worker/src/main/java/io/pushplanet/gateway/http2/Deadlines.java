package io.pushplanet.gateway.http2;

/// Ends what takes too long on a connection while requests are under way. A silent peer gets a
/// PING, and the connection is closed when it does not answer. A request without an answer is given
/// up, together with the connection when the peer has answered nothing else meanwhile. A connection
/// that takes no bytes is closed. Confined to its event loop.
final class Deadlines {
  /// A connection is looked at so many times until it counts as dead, and gets a PING after a third
  /// of them. Looks are counted instead of time, because a pause of our own process is not the
  /// peer's silence.
  private static final int LOOKS = 30;

  private static final int LOOKS_AFTER_PING = LOOKS * 2 / 3 - 3;

  private final Http2Streams streams;
  private final ConnectionSettings settings;
  private long busySinceNanos;
  private long answeredNanos = System.nanoTime();
  private int looksSincePing = -1;
  private boolean looking;

  Deadlines(Http2Streams streams, ConnectionSettings settings) {
    this.streams = streams;
    this.settings = settings;
  }

  /// Called when the first request gets under way.
  void busy() {
    busySinceNanos = System.nanoTime();
  }

  /// Called when the peer has sent a frame.
  void heard() {
    looksSincePing = -1;
  }

  /// Called when the peer has answered a request.
  void answered(long nowNanos) {
    answeredNanos = nowNanos;
  }

  boolean answeredSince(long nanos) {
    return answeredNanos - nanos >= 0;
  }

  /// Called when requests are under way.
  void keepLooking() {
    if (!looking) {
      looking = true;
      streams.after(settings.deadAfter().dividedBy(LOOKS), this::look);
    }
  }

  private void look() {
    looking = false;
    if (!streams.isBusy()) {
      looksSincePing = -1;
      return;
    }
    long nowNanos = System.nanoTime();
    long silence = Math.min(nowNanos - streams.lastHeardNanos(), nowNanos - busySinceNanos);
    if (looksSincePing >= 0) {
      if (++looksSincePing > LOOKS_AFTER_PING) {
        streams.close("silent");
        return;
      }
    } else if (silence >= settings.deadAfter().dividedBy(3).toNanos()) {
      looksSincePing = 0;
      streams.ping();
    }
    long timeout = settings.requestTimeout().toNanos();
    Exchange late = streams.oldest();
    while (late != null && nowNanos - late.writtenNanos >= timeout) {
      if (answeredNanos - late.writtenNanos <= 0) {
        streams.close("timeout");
        return;
      }
      streams.cancel(late, "timeout");
      late = streams.oldest();
    }
    Exchange unwritten = streams.oldestUnwritten();
    if (unwritten != null && nowNanos - unwritten.waitsUntilNanos >= 0) {
      streams.close("not_taken");
      return;
    }
    keepLooking();
  }
}
