package io.pushplanet.gateway.credential;

/// Asks a provider whether it accepts a credential, without sending a message.
public interface CredentialProbe {
  /// `apns`, `fcm`, `hms`
  String provider();

  /// Waits for the answer for a bounded time. Never throws for faults of a provider or a network.
  Verdict ask(Credential credential, String environment);

  /// The provider's answer.
  sealed interface Verdict {
    /// @param how the answer that says so
    record Accepted(String how) implements Verdict {}

    /// @param reason the status and the provider's own word
    record Refused(String reason) implements Verdict {}

    /// The provider did not say, or could not be asked.
    record Unreachable(String why) implements Verdict {}
  }
}
