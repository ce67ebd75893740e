package io.pushplanet.common.session;

import java.io.Serial;

/// Redis is away or too slow. Callers go on without it where that is correct, and say so where it is not.
public final class DirectoryUnavailable extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  DirectoryUnavailable(String message, Throwable cause) {
    super(message, cause);
  }
}
