package io.pushplanet.quickstart.services;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/// Free TCP ports on the loopback address.
public final class Port {
  private Port() {}

  /// A port that nobody listens on right now. Another program may take it before you do.
  public static int free() {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException("this machine has no free TCP port", e);
    }
  }

  /// Whether we could listen on this port of the loopback address now.
  public static boolean isFree(int port) {
    try (var socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
