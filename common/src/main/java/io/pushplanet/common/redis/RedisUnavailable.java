package io.pushplanet.common.redis;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// Redis is away or too slow. Callers go on without Redis where that is correct, and report the
/// failure elsewhere.
public final class RedisUnavailable extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  public RedisUnavailable(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
