package io.pushplanet.load.node;

import java.net.InetSocketAddress;
import java.util.Optional;

/// An MQTT server in a process of its own, under measurement.
public interface Server extends AutoCloseable {
  /// Its name in the results.
  String name();

  long pid();

  /// The address for devices.
  InetSocketAddress mqtt();

  /// Sends one message to all of its devices, in the best way for this server.
  Sender fanOut();

  /// Sends messages to single devices, which it looks up one by one; empty for a server that knows
  /// only topics.
  default Optional<Sender> singles() {
    return Optional.empty();
  }

  /// Whether it runs on a JVM of this JDK, so that its heap can be read.
  boolean isJvm();

  @Override
  void close();
}
