package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.socket.Sockets;
import java.time.Duration;

/// @param loops event loops, each with its own poller and its own SO_REUSEPORT listeners
/// @param sockets by which means they wait, read and write
/// @param unauthenticatedBytes process-wide cap on what unauthenticated peers make us hold; a sixteenth of it is for those at
///     each listener alone, and those at a trusted one have no more
/// @param partialBytes process-wide cap on what peers that have authenticated make us hold of frames whose rest has not come, or that wait to be
///     read; those at trusted listeners do not count
/// @param writeStall a peer that takes nothing for so long while something waits for it is closed
/// @param backlog of each listening socket; shorter where a low rate would make it a line of those who gave up
/// @param handshakeThreads TLS handshakes worked on at once
/// @param handshakesWaiting TLS handshakes in line; past it the oldest are given up
public record TransportSettings(
    int loops,
    Sockets sockets,
    long unauthenticatedBytes,
    long partialBytes,
    Duration writeStall,
    int backlog,
    int handshakeThreads,
    int handshakesWaiting) {
  public TransportSettings {
    if (loops < 1) {
      throw new IllegalArgumentException("cm.transport.loops must be at least 1");
    }
  }
}
