package io.pushplanet.dispatcher.idempotency;

import io.pushplanet.common.message.MessageId;

/// A request that is worked on, with or without an Idempotency-Key. Confined to the thread of the
/// request.
public interface Work {
  /// The id of its message, from which the ids of further messages follow. A repeat with the same
  /// key has the same id.
  MessageId id();

  /// A sign that the request is still worked on: a repeat is told to wait for its answer. Given
  /// before and after each step that may take seconds. It costs a look at the clock; every few
  /// seconds, Redis is told. Never throws.
  void goesOn();
}
