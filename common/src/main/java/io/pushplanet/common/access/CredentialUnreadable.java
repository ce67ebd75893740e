package io.pushplanet.common.access;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A stored credential could not be decrypted: the master key is another one, or the row was moved
/// or changed.
public final class CredentialUnreadable extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  CredentialUnreadable(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
