package io.pushplanet.gateway.intake;

import java.util.function.IntSupplier;

/// A queue, its handler, and how many of its messages may be in hand at once.
///
/// @param prefetch the smallest number of messages in hand, whatever they carry
/// @param mostPrefetch the largest number, reached while messages are small and the handler has
///     room
/// @param room for how many more recipients the handler has room; negative when it has taken too
///     many
public record Subscription(
    String queue, int prefetch, int mostPrefetch, IntSupplier room, BatchHandler handler) {
  /// AMQP's prefetch count is an unsigned short.
  private static final int LARGEST = 65_535;

  public Subscription {
    if (prefetch < 1 || prefetch > LARGEST || mostPrefetch > LARGEST) {
      throw new IllegalArgumentException("prefetch is 1 to " + LARGEST);
    }
  }

  /// A subscription with a fixed number of messages in hand.
  public Subscription(String queue, int prefetch, BatchHandler handler) {
    this(queue, prefetch, prefetch, () -> 0, handler);
  }
}
