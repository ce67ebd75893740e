package io.pushplanet.common.wire;

/// An item of an AMQP message that can never be handled.
///
/// @param batch the item alone, as a batch that may be published again
/// @param reason for people
public record DeadItem(byte[] batch, String reason) {}
