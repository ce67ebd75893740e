package io.pushplanet.simulators.server;

import java.security.cert.X509Certificate;
import java.util.Optional;

/// The service behind a server's port.
@FunctionalInterface
public interface Endpoint {

  /// Called once per connection, with the client's certificate if it showed one.
  Conversation connected(Optional<X509Certificate> client);

  /// One connection. Confined to the connection's event loop; an answer must not block for long.
  @FunctionalInterface
  interface Conversation {
    /// The reaction to a request.
    Reaction answer(Request request);

    /// How many streams the client may have open now. Asked after each answer; a change is
    /// announced by SETTINGS.
    default int allowedStreams() {
      return 100;
    }
  }
}
