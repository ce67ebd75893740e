package io.pushplanet.quickstart.platform;

/// Told what a platform does while it starts and stops.
@FunctionalInterface
public interface Progress {
  void tell(String line);
}
