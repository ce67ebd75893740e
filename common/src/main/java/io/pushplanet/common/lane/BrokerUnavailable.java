package io.pushplanet.common.lane;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The broker is away, too slow, or did not take a message. It may still have the message, so
/// callers must not promise either.
public final class BrokerUnavailable extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  public BrokerUnavailable(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
