package io.pushplanet.common.delivery;

import java.util.Locale;

/// The state of a message, by the name that the API and the dashboard use.
public enum MessageState {
  /// No delivery has ended yet.
  ACCEPTED,
  SENDING,
  /// All deliveries have ended.
  DONE,
  CANCELLED;

  /// @param expanded whether all recipients are known
  /// @param recipients how many are known
  /// @param ended how many of their deliveries have ended; more than `recipients` while these are
  ///     not counted yet
  public static MessageState of(boolean cancelled, boolean expanded, int recipients, int ended) {
    if (cancelled) {
      return CANCELLED;
    }
    if (expanded && ended >= recipients) {
      return DONE;
    }
    return ended == 0 ? ACCEPTED : SENDING;
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
