package io.pushplanet.quickstart.services;

import io.pushplanet.quickstart.process.Readiness;
import java.time.Duration;

/// Starts one kind of server and checks its readiness. The data stays in its directory between
/// starts.
interface LocalServer {

  /// For people: `MariaDB 11.4.5 (embedded)`.
  String description();

  int port();

  /// Starts the server on its port and data, without waiting until it is ready to accept
  /// connections.
  Readiness start();

  /// How long a clean stop may take before the server is killed.
  Duration stopGrace();

  /// Ends further processes that the server needs.
  default void close() {}
}
