package io.pushplanet.gateway.intake;

/// A queue, what is done with its messages, and how many of them may be in hand at once.
public record Subscription(String queue, int prefetch, BatchHandler handler) {
  public Subscription {
    if (prefetch < 1) {
      throw new IllegalArgumentException("prefetch is at least 1");
    }
  }
}
