package io.pushplanet.quickstart.platform;

/// A platform cannot be started as it was asked for; the message tells the user what to do about it.
public final class StartRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  StartRefused(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /// What is in the way.
  public enum Reason {
    /// A port that cannot be listened on.
    PORT_TAKEN,
    /// Another platform with the same state.
    UP_ALREADY,
    STATE_UNUSABLE
  }

  public Reason reason() {
    return reason;
  }
}
