package io.pushplanet.gateway.credential;

/// The result of looking for an app's credential.
public sealed interface CredentialLookup<C extends Credential> {
  /// @param standing hears of each answer
  record Found<C extends Credential>(C credential, CredentialStanding standing)
      implements CredentialLookup<C> {}

  /// The app has none until one is uploaded.
  record Missing<C extends Credential>() implements CredentialLookup<C> {}

  /// The provider refuses it: nothing is sent with it until it is accepted again, or another one is
  /// there.
  ///
  /// @param why the provider's word
  record Paused<C extends Credential>(String why) implements CredentialLookup<C> {
    /// Why a message that waits for it was not sent.
    public static final String REASON = "credential_paused";
  }

  /// It does not open with this master key, or is no such credential.
  record Unreadable<C extends Credential>(String why) implements CredentialLookup<C> {
    /// Why a message that waits for it was not sent.
    public static final String REASON = "credential_unreadable";
  }

  /// The database does not answer.
  record Unavailable<C extends Credential>(String why) implements CredentialLookup<C> {}
}
