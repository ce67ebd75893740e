package io.pushplanet.simulators.server;

import io.pushplanet.simulators.server.Request.Header;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A simulator's reaction to a request.
public sealed interface Reaction {

  /// Answers, after `delay`.
  record Answer(int status, List<Header> headers, byte[] body, Duration delay) implements Reaction {
    /// An answer without delay.
    public static Answer of(int status, String contentType, String body) {
      return new Answer(
          status,
          List.of(new Header("content-type", contentType)),
          body.getBytes(StandardCharsets.UTF_8),
          Duration.ZERO);
    }

    /// A JSON answer.
    public static Answer json(int status, String body) {
      return of(status, "application/json; charset=UTF-8", body);
    }

    /// The same answer with another header.
    public Answer with(String header, String value) {
      List<Header> more = new ArrayList<>(headers);
      more.add(new Header(header, value));
      return new Answer(status, more, body, delay);
    }

    /// The same answer, with `retry-after` in whole seconds, rounded up, for a wait above zero.
    public Answer retryAfter(Duration wait) {
      return wait.isPositive()
          ? with("retry-after", Long.toString(wait.plusMillis(999).toSeconds()))
          : this;
    }

    /// The same answer, later.
    public Answer after(Duration delay) {
      return new Answer(status, headers, body, delay);
    }
  }

  /// Sends status and headers at once, and the body in pieces until `over` has passed.
  record Trickle(Answer answer, Duration over) implements Reaction {}

  /// Never answers; the stream stays open.
  record Silence() implements Reaction {}

  /// Ends the stream with RST_STREAM (HTTP/1.1: closes the connection).
  record Reset(long errorCode) implements Reaction {}

  /// Answers, then says GOAWAY with `debugData` naming this stream as the last one, and closes a
  /// second later.
  record GoAway(Answer answer, String debugData) implements Reaction {}

  /// Drops the connection without an answer.
  record Drop() implements Reaction {}
}
