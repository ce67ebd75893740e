package io.pushplanet.load.node;

import java.net.InetSocketAddress;
import java.util.Optional;

/// An MQTT server in a process of its own, under measurement.
public interface Server extends AutoCloseable {
  /// As results call it.
  String name();

  long pid();

  /// Where devices connect.
  InetSocketAddress mqtt();

  /// Brings one message to all of its devices, the way this server does that best.
  Sender fanOut();

  /// Brings messages to single devices, for which it looks each of them up; empty where a server
  /// knows topics only.
  default Optional<Sender> singles() {
    return Optional.empty();
  }

  /// Whether it runs on a JVM of this JDK, so that its heap can be read.
  boolean isJvm();

  @Override
  void close();
}
