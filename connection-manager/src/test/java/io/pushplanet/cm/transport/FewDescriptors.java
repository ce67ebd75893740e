package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.socket.Sockets;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;

/// An echo server on the sockets that its argument names, as a process: prints its port, runs until
/// its input ends. For each line of its input it opens files, as it would open a connection to
/// another server.
final class FewDescriptors {
  static final String OPENED_SOME = "opened some files";

  private FewDescriptors() {}

  public static void main(String[] arguments) throws Exception {
    try (var server = new EchoServer(GateSettings.OPEN, Sockets.valueOf(arguments[0]))) {
      // Loads the classes for answering while descriptors are left.
      try (var first = server.connect()) {
        EchoServer.echoes(first);
      }
      System.out.println(server.port());
      while (System.in.read() >= 0) {
        openSome();
      }
    }
  }

  private static void openSome() throws IOException {
    var opened = new ArrayList<InputStream>();
    for (int file = 0; file < 20; file++) {
      opened.add(Files.newInputStream(Path.of("/dev/null")));
    }
    for (var file : opened) {
      file.close();
    }
    System.out.println(OPENED_SOME);
  }
}
