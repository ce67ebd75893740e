package io.pushplanet.dispatcher.idempotency;

import org.jspecify.annotations.Nullable;

/// An answer that can be given again, byte for byte.
public record Answer(int status, @Nullable String location, String body) {}
