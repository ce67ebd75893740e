package io.pushplanet.common.wire;

import java.io.Serial;

/// Bytes from another process that are not in our form. They belong into the dead-letter queue, not into a retry.
public final class MalformedWire extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  MalformedWire(String expected, Throwable cause) {
    super("not a " + expected + ": " + cause.getMessage(), cause);
  }
}
