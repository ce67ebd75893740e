package io.pushplanet.quickstart.services;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/// Free TCP ports on the loopback address.
public final class Port {
  private Port() {}

  /// Below the ports that systems use for outgoing connections (Linux: from 32,768 on,
  /// net.ipv4.ip_local_port_range). Otherwise such a connection could take the port while its
  /// server restarts, or a client that connects meanwhile could connect to itself.
  private static final int LOWEST = 10_240;

  private static final int HIGHEST = 32_000;
  private static final int MAX_TRIES = 1_000;

  /// Two platforms that start side by side in one process choose all their ports before they open
  /// the first.
  private static final Set<Integer> DRAWN = ConcurrentHashMap.newKeySet();

  /// A random free port, never the same one twice in this process. Another program may take it
  /// before the caller does.
  public static int free() {
    for (int attempt = 0; attempt < MAX_TRIES; attempt++) {
      int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
      if (isFree(port) && DRAWN.add(port)) {
        return port;
      }
    }
    throw new IllegalStateException(
        "this machine has no free TCP port from " + LOWEST + " to " + HIGHEST);
  }

  private static boolean isFree(int port) {
    return objectionTo(InetAddress.getLoopbackAddress(), port).isEmpty();
  }

  /// Why this port cannot be opened now, in the system's words.
  public static Optional<String> objectionTo(InetAddress address, int port) {
    try (var socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(address, port), 1);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }
}
