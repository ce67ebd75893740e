package io.pushplanet.load.node;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// The line of connections that a listener has not accepted yet, as Linux shows it
/// (https://docs.kernel.org/networking/proc_net_tcp.html). The kernel lists listening sockets before
/// all others, so a look costs little even beside thousands of connections.
final class AcceptLine {
  private static final List<Path> TABLES =
      List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));
  private static final String LISTEN = "0A";
  private static final int ADDRESS = 1;
  private static final int STATE = 3;
  private static final int QUEUES = 4;

  private AcceptLine() {}

  /// How many connections wait, over all sockets that listen on this port.
  static int waiting(int port) {
    int waiting = 0;
    for (Path table : TABLES) {
      if (Files.exists(table)) {
        try (BufferedReader lines = Files.newBufferedReader(table)) {
          waiting += waiting(lines, port);
        } catch (IOException e) {
          throw new UncheckedIOException("cannot read " + table, e);
        }
      }
    }
    return waiting;
  }

  /// Reads a table up to its first socket that does not listen.
  static int waiting(BufferedReader table, int port) throws IOException {
    String suffix = String.format(Locale.ROOT, ":%04X", port);
    int waiting = 0;
    table.readLine();
    for (String line = table.readLine(); line != null; line = table.readLine()) {
      String[] fields = line.strip().split("\\s+");
      if (!fields[STATE].equals(LISTEN)) {
        return waiting;
      }
      if (fields[ADDRESS].endsWith(suffix)) {
        // For a listening socket, the bytes to receive are the connections to accept.
        waiting += Integer.parseInt(fields[QUEUES].substring(fields[QUEUES].indexOf(':') + 1), 16);
      }
    }
    return waiting;
  }
}
