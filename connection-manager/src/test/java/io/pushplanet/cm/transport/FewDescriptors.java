package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.socket.Sockets;

/// An echo server on the sockets that its argument names, as a process: prints its port, runs until
/// its input ends.
final class FewDescriptors {
  private FewDescriptors() {}

  public static void main(String[] arguments) throws Exception {
    try (var server = new EchoServer(GateSettings.OPEN, Sockets.valueOf(arguments[0]))) {
      // Loads the classes for answering while descriptors are left.
      try (var first = server.connect()) {
        EchoServer.echoes(first);
      }
      System.out.println(server.port());
      while (System.in.read() >= 0) {}
    }
  }
}
