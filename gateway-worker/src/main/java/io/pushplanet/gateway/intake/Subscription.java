package io.pushplanet.gateway.intake;

import java.util.function.IntSupplier;

/// A queue, what is done with its messages, and how many of them may be in hand at once.
///
/// @param prefetch messages in hand at least, whatever they carry
/// @param mostPrefetch as many may come to be in hand where they are small and the handler has room
/// @param room how many more recipients the handler has room for; negative when it has taken more
public record Subscription(
    String queue, int prefetch, int mostPrefetch, IntSupplier room, BatchHandler handler) {
  /// AMQP's count is a short.
  private static final int LARGEST = 65_535;

  public Subscription {
    if (prefetch < 1 || prefetch > LARGEST || mostPrefetch > LARGEST) {
      throw new IllegalArgumentException("prefetch is 1 to " + LARGEST);
    }
  }

  /// With the same number in hand, whatever they carry.
  public Subscription(String queue, int prefetch, BatchHandler handler) {
    this(queue, prefetch, prefetch, () -> 0, handler);
  }
}
