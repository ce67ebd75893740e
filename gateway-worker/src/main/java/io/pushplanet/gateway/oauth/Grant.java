package io.pushplanet.gateway.oauth;

/// The result of asking for an access token.
public sealed interface Grant {
  record Granted(String token) implements Grant {
    @Override
    public String toString() {
      return "Granted[***]";
    }
  }

  /// The vendor does not accept the credential.
  record Refused(int status, String reason) implements Grant {}

  record Unavailable(String why) implements Grant {}
}
