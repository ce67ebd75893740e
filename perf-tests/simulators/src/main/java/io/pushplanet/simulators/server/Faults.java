package io.pushplanet.simulators.server;

import io.netty.handler.codec.DecoderException;
import java.io.IOException;

/// Faults of the simulators themselves.
final class Faults {
  private Faults() {}

  /// Prints a fault that neither the network nor the client's TLS or bytes explain. To the system
  /// under test it looks as if the vendor had closed the connection.
  static void report(Throwable cause) {
    if (!(cause instanceof IOException) && !(cause instanceof DecoderException)) {
      cause.printStackTrace();
    }
  }
}
