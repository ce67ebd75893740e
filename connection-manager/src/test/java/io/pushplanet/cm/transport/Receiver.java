package io.pushplanet.cm.transport;

/// A connection's handler that only receives.
@FunctionalInterface
interface Receiver extends ConnectionHandler {
  @Override
  default void crowded() {}

  @Override
  default void flushed() {}

  @Override
  default boolean swept(long nowNanos) {
    return false;
  }

  @Override
  default void stopping() {}

  @Override
  default void closed(CloseCause cause) {}
}
