package io.pushplanet.cm.transport;

import java.time.Duration;

/// @param loops event loops, each with its own selector and its own SO_REUSEPORT listeners
/// @param unauthenticatedBytes process-wide cap on what unauthenticated peers make us hold
/// @param writeStall a peer that takes nothing for so long while something waits for it is closed
/// @param backlog of each listening socket
public record TransportSettings(
    int loops, long unauthenticatedBytes, Duration writeStall, int backlog) {
  public TransportSettings {
    if (loops < 1) {
      throw new IllegalArgumentException("cm.transport.loops must be at least 1");
    }
  }
}
