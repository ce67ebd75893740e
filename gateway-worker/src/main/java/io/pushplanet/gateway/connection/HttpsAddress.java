package io.pushplanet.gateway.connection;

import java.net.URI;
import java.util.regex.Pattern;

/// The form of a setting's address that takes credentials: `https`, or `http` to this machine, as
/// in tests.
public final class HttpsAddress {
  private static final Pattern THIS_MACHINE =
      Pattern.compile("localhost|127(\\.\\d+){3}|\\[::1]", Pattern.CASE_INSENSITIVE);

  private HttpsAddress() {}

  /// @param setting its full name
  /// @throws IllegalArgumentException for another address; does not tell it, because it may hold a
  ///     secret
  public static void check(String setting, URI address) {
    if (!isSafe(address)) {
      throw new IllegalArgumentException(
          setting + " must be https:// and a host, or http:// and this machine (localhost)");
    }
  }

  private static boolean isSafe(URI address) {
    String host = address.getHost();
    if (host == null) {
      return false;
    }
    return "https".equalsIgnoreCase(address.getScheme())
        || ("http".equalsIgnoreCase(address.getScheme()) && THIS_MACHINE.matcher(host).matches());
  }
}
