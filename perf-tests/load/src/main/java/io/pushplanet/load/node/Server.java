package io.pushplanet.load.node;

import java.net.InetSocketAddress;

/// An MQTT server in a process of its own, under measurement.
public interface Server extends AutoCloseable {
  /// As results call it.
  String name();

  long pid();

  /// Where devices connect.
  InetSocketAddress mqtt();

  /// What tells its devices something.
  Sender sender();

  /// Whether it runs on a JVM of this JDK, so that its heap can be read.
  boolean isJvm();

  @Override
  void close();
}
