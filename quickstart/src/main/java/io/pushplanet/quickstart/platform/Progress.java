package io.pushplanet.quickstart.platform;

/// Receives a line about each step while a platform starts and stops.
@FunctionalInterface
public interface Progress {
  void tell(String line);
}
