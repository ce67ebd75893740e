package io.pushplanet.simulators.script;

import io.pushplanet.simulators.tls.ServerFace;
import java.time.Duration;

/// The fate of a request that a script chose.
///
/// @param action how the simulator behaves
/// @param status the HTTP status of [Action#ANSWER]; 0: the simulator's own answer
/// @param reason the provider's reason for that status; of [Action#STREAMS] their number, of
///     [Action#CERTIFICATE] its name
/// @param retryAfter sent as `Retry-After` in seconds; zero: not sent
/// @param delay how long the answer takes, of [Action#TRICKLE] its body
/// @param timestampMillis of an APNs 410; 0: now
/// @param delivered whether the ledger counts the notification as delivered although the sender
///     does not learn of it
public record Fate(
    Action action,
    int status,
    String reason,
    Duration retryAfter,
    Duration delay,
    long timestampMillis,
    boolean delivered) {

  /// How a simulator behaves.
  public enum Action {
    /// Answers with `status` and `reason`, after `delay`.
    ANSWER,
    /// Answers with an HTML page, as a load balancer does (502 unless `status` says otherwise).
    HTML,
    /// Never answers.
    SILENCE,
    /// RST_STREAM with INTERNAL_ERROR.
    RESET,
    /// RST_STREAM with REFUSED_STREAM: not processed, safe to repeat.
    REFUSE,
    /// Answers well, then GOAWAY with `reason`.
    GOAWAY,
    /// Closes the connection without an answer.
    DROP,
    /// Sends the status at once and the body in pieces, for as long as `delay`.
    TRICKLE,
    /// Answers well; from now on a connection may have `reason` streams.
    STREAMS,
    /// Answers well; connections from now on see another certificate
    /// ([io.pushplanet.simulators.tls.ServerFace]).
    CERTIFICATE
  }

  public Fate {
    if (status != 0 && (status < 200 || status > 599)) {
      throw new IllegalArgumentException("status must be 200 to 599, or left out; it is " + status);
    }
    if (retryAfter.isNegative() || delay.isNegative()) {
      throw new IllegalArgumentException("retry_after and delay must not be negative");
    }
    if (action == Action.STREAMS && !reason.matches("[1-9][0-9]{0,8}")) {
      throw new IllegalArgumentException("streams are a number from 1, not \"" + reason + "\"");
    }
    if (action == Action.CERTIFICATE) {
      var _ = ServerFace.of(reason);
    }
  }

  /// Answers with a status and a reason.
  public static Fate answer(int status, String reason) {
    return new Fate(Action.ANSWER, status, reason, Duration.ZERO, Duration.ZERO, 0, false);
  }

  /// This action; nothing is delivered, except before a GOAWAY.
  public static Fate of(Action action) {
    return new Fate(action, 0, "", Duration.ZERO, Duration.ZERO, 0, action == Action.GOAWAY);
  }

  /// The same, with `Retry-After`.
  public Fate retryAfter(Duration wait) {
    return new Fate(action, status, reason, wait, delay, timestampMillis, delivered);
  }

  /// The same, slower.
  public Fate after(Duration wait) {
    return new Fate(action, status, reason, retryAfter, wait, timestampMillis, delivered);
  }

  /// The same with another time (of an APNs 410).
  public Fate since(long millis) {
    return new Fate(action, status, reason, retryAfter, delay, millis, delivered);
  }

  int newStreams() {
    return Integer.parseInt(reason);
  }

  /// The same, but the device gets the notification.
  public Fate butDelivered() {
    return new Fate(action, status, reason, retryAfter, delay, timestampMillis, true);
  }
}
