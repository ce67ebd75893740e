package io.pushplanet.simulators.apns;

import java.net.InetSocketAddress;
import java.time.Duration;

/// How one APNs environment behaves.
///
/// @param address where to listen; port 0 takes any free one
/// @param sandbox which environment this is
/// @param maxConcurrentStreams announced once the connection has shown a good request
/// @param strictTokens whether only registered tokens are known
/// @param tokenRenewal a team's provider token may change no more often; at Apple "no more than
///     once every 20 minutes"
///     (https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns)
public record ApnsSettings(
    InetSocketAddress address,
    boolean sandbox,
    int maxConcurrentStreams,
    boolean strictTokens,
    Duration tokenRenewal) {
  public ApnsSettings {
    if (maxConcurrentStreams < 1) {
      throw new IllegalArgumentException("maxConcurrentStreams must be at least 1");
    }
  }

  /// The same at another address.
  public ApnsSettings at(InetSocketAddress wanted) {
    return new ApnsSettings(wanted, sandbox, maxConcurrentStreams, strictTokens, tokenRenewal);
  }

  /// The same for the sandbox.
  public ApnsSettings asSandbox() {
    return new ApnsSettings(address, true, maxConcurrentStreams, strictTokens, tokenRenewal);
  }
}
