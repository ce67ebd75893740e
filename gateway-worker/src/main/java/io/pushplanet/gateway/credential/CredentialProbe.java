package io.pushplanet.gateway.credential;

/// Asks a provider whether it takes a credential, without sending anything to anybody.
public interface CredentialProbe {
  /// `apns`, `fcm`, `hms`
  String provider();

  /// Waits for the answer, a bounded time. Never throws for what a provider or a network can do.
  Verdict ask(Credential credential, String environment);

  /// What came of it.
  sealed interface Verdict {
    /// @param how the answer that says so
    record Accepted(String how) implements Verdict {}

    /// @param reason the status and the provider's own word
    record Refused(String reason) implements Verdict {}

    /// The provider did not say, or could not be asked.
    record Unreachable(String why) implements Verdict {}
  }
}
