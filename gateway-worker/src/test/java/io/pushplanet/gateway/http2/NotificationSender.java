package io.pushplanet.gateway.http2;

import java.util.function.LongSupplier;

/// A client under measurement.
interface NotificationSender extends AutoCloseable {
  /// Hears that a notification has ended.
  interface Ended {
    /// @param well whether the server answered 200
    void ended(long number, long beganNanos, boolean well);
  }

  /// Sends on threads of its own, so many notifications at a time, each to the device token of its
  /// number.
  ///
  /// @param next gives the next number; below zero to end
  void keepSending(int inFlight, LongSupplier next, Ended ended);

  /// @return the device token of a number
  static String token(long number) {
    return "%064x".formatted(number);
  }

  @Override
  void close();
}
