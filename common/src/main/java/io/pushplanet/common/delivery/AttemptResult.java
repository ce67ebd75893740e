package io.pushplanet.common.delivery;

import java.util.Locale;

/// How an [Attempt] went.
public enum AttemptResult {
  /// The device or the provider acknowledged the message.
  DELIVERED,
  /// The device's node could not deliver it; another channel follows.
  NOT_DELIVERED,
  /// The device refused it.
  REFUSED,
  /// The provider refused it, or we did not send it.
  REJECTED,
  /// It was sent once more at once.
  REPEATED,
  /// It waits for another attempt.
  DEFERRED,
  /// It waits in the device's inbox.
  PARKED,
  /// The device acknowledged it over another channel, so it was not sent over this one.
  CALLED_OFF,
  EXPIRED,
  FAILED,
  CANCELLED;

  private final String word = name().toLowerCase(Locale.ROOT);

  /// As it is written in tables, queues and the API: `called_off`.
  public String word() {
    return word;
  }
}
