package io.pushplanet.common.wire;

import java.io.Serial;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/// Bytes from another process in an unknown form. They belong into the dead-letter queue, not into
/// a retry.
public final class MalformedWire extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  MalformedWire(String expected, Throwable cause) {
    super("not a " + expected + ": " + words(cause), cause);
  }

  /// Without Jackson's description of the bytes: a dead letter shows the bytes themselves.
  private static @Nullable String words(Throwable cause) {
    return cause instanceof JacksonException jacksons
        ? jacksons.getOriginalMessage()
        : cause.getMessage();
  }
}
