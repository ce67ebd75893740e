package io.pushplanet.cm.session;

/// How a message's stay at a session ended.
public sealed interface Settlement {

  /// The device acknowledged it (at QoS 0: the kernel took it).
  record Delivered(long tookNanos) implements Settlement {}

  /// The session is gone, was taken over, or the device did not subscribe.
  record NotHere() implements Settlement {}

  /// No acknowledgement in time; the device may have it.
  record TimedOut() implements Settlement {}

  /// Its time to live ended before it was sent.
  record Expired() implements Settlement {}

  /// It cannot be sent, or the device refused it.
  record Refused(String reason) implements Settlement {}
}
