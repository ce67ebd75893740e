package io.pushplanet.dashboard.credential;

import java.io.Serial;

/// An uploaded file cannot be used. The message tells the operator what to do.
final class RefusedCredential extends Exception {
  @Serial private static final long serialVersionUID = 1;

  RefusedCredential(String message) {
    super(message);
  }
}
