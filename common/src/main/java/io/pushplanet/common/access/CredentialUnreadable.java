package io.pushplanet.common.access;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A stored credential could not be opened: another master key, or a row that was moved or changed.
public final class CredentialUnreadable extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  CredentialUnreadable(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
