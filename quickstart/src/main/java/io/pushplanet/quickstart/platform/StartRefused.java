package io.pushplanet.quickstart.platform;

/// A platform cannot be started as requested; the message says how to mend that.
public final class StartRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  StartRefused(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /// The reason.
  public enum Reason {
    /// A port that cannot be opened.
    PORT_TAKEN,
    /// Another platform with the same state.
    UP_ALREADY,
    STATE_UNUSABLE
  }

  public Reason reason() {
    return reason;
  }
}
