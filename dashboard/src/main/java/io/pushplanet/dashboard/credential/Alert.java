package io.pushplanet.dashboard.credential;

import java.time.Instant;

/// A row of `alerts`: a finding of a worker that an operator must know.
record Alert(String kind, String subject, String text, Instant at) {
  public String words() {
    return kind.replace('_', ' ');
  }

  public String tone() {
    return kind.equals("credential_resumed")
        ? "good"
        : kind.equals("credential_expires") ? "warn" : "bad";
  }
}
