package io.pushplanet.simulators.apns;

import java.time.Duration;

/// How one APNs environment behaves.
///
/// @param port 0 = any free one
/// @param sandbox which environment this is
/// @param maxConcurrentStreams announced once the connection has shown a good request
/// @param strictTokens whether only registered tokens are known
/// @param tokenRenewal a key's provider token may change no more often
public record ApnsSettings(
    int port,
    boolean sandbox,
    int maxConcurrentStreams,
    boolean strictTokens,
    Duration tokenRenewal) {
  /// "Refresh your token no more than once every 20 minutes"
  /// (https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns).
  public static final Duration TOKEN_RENEWAL = Duration.ofMinutes(20);

  public ApnsSettings {
    if (maxConcurrentStreams < 1) {
      throw new IllegalArgumentException("maxConcurrentStreams must be at least 1");
    }
  }

  /// Production, a free port, 1,000 streams, every well-formed token known.
  public static ApnsSettings defaults() {
    return new ApnsSettings(0, false, 1_000, false, TOKEN_RENEWAL);
  }

  /// The same on a given port.
  public ApnsSettings onPort(int wanted) {
    return new ApnsSettings(wanted, sandbox, maxConcurrentStreams, strictTokens, tokenRenewal);
  }

  /// The same for the sandbox.
  public ApnsSettings asSandbox() {
    return new ApnsSettings(port, true, maxConcurrentStreams, strictTokens, tokenRenewal);
  }

  /// The same with another number of streams.
  public ApnsSettings withStreams(int streams) {
    return new ApnsSettings(port, sandbox, streams, strictTokens, tokenRenewal);
  }

  /// The same, knowing only registered tokens.
  public ApnsSettings withStrictTokens() {
    return new ApnsSettings(port, sandbox, maxConcurrentStreams, true, tokenRenewal);
  }
}
