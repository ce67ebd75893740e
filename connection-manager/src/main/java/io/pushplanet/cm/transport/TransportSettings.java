package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.socket.Sockets;
import java.time.Duration;

/// @param loops event loops, each with its own poller and its own SO_REUSEPORT listeners
/// @param sockets which system calls the loops use
/// @param unauthenticatedBytes how many bytes unauthenticated peers may make this process hold; a
///     sixteenth of it is reserved for each listener, and the peers of a trusted listener have no
///     more than that
/// @param partialBytes how many bytes authenticated peers may make this process hold in partial
///     frames and in frames that wait to be read; peers of trusted listeners do not count
/// @param writeStall a peer that reads nothing for this long while bytes wait for it is closed
/// @param userTimeout the kernel ends a connection whose peer acknowledges nothing for this long
///     while bytes are under way to it; 0 for the kernel's own limit. Without effect on java.nio
/// @param backlog of each listening socket; shorter where a low rate would leave only clients in it
///     that have given up
/// @param handshakeThreads how many TLS handshakes are worked on at once
/// @param handshakesWaiting how many TLS handshakes may wait; beyond that the oldest are given up
public record TransportSettings(
    int loops,
    Sockets sockets,
    long unauthenticatedBytes,
    long partialBytes,
    Duration writeStall,
    Duration userTimeout,
    int backlog,
    int handshakeThreads,
    int handshakesWaiting) {
  public TransportSettings {
    if (loops < 1) {
      throw new IllegalArgumentException("cm.transport.loops must be at least 1");
    }
  }
}
