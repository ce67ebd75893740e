package io.pushplanet.gateway.http2;

import java.util.Locale;

/// A server's fault.
enum Fault {
  /// Processes half of 500 requests under way, says so, answers those and leaves.
  GOAWAY,
  /// Refuses one stream in a hundred.
  REFUSED,
  /// Resets one stream in a hundred.
  RST,
  /// Says nothing more, and nothing to PINGs either; the connection stays.
  SILENT;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
