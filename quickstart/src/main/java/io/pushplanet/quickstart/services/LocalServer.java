package io.pushplanet.quickstart.services;

import io.pushplanet.quickstart.process.ChildProcess;
import java.time.Duration;

/// How one kind of server is started and asked whether it is ready. Data stays in its directory between starts.
interface LocalServer {

  /// For people: `MariaDB 11.4.5 (embedded)`.
  String description();

  int port();

  /// Starts it on its port and data, and returns when it takes connections.
  ChildProcess start();

  /// How long a clean stop may take before it is killed.
  Duration stopGrace();

  /// Ends whatever the server needs besides its own process.
  default void close() {}
}
