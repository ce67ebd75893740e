package io.pushplanet.cm.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/// The kernel's count of connections that found a listener's accept queue full (`ListenOverflows`
/// of https://docs.kernel.org/networking/snmp_counter.html). It counts since the machine's start,
/// for this network namespace, other servers included. Used by one thread.
final class ListenOverflows {
  private final Path netstat;
  private OptionalLong before = OptionalLong.empty();

  ListenOverflows(Path netstat) {
    this.netstat = netstat;
  }

  static ListenOverflows ofThisMachine() {
    return new ListenOverflows(Path.of("/proc/net/netstat"));
  }

  /// Whether there were more since the last reading; false at the first one, and where the kernel
  /// does not tell. A file that cannot be read, for want of descriptors for instance, is no
  /// reading.
  boolean haveRisen() {
    OptionalLong now = read();
    if (now.isEmpty()) {
      return false;
    }
    boolean risen = before.isPresent() && now.getAsLong() > before.getAsLong();
    before = now;
    return risen;
  }

  private OptionalLong read() {
    try {
      return count(Files.readAllLines(netstat));
    } catch (IOException unreadable) {
      return OptionalLong.empty();
    }
  }

  /// Reads pairs of lines: names, then numbers.
  private static OptionalLong count(List<String> lines) {
    for (int index = 0; index + 1 < lines.size(); index++) {
      var names = List.of(lines.get(index).split(" "));
      int column = names.indexOf("ListenOverflows");
      if (column > 0) {
        return OptionalLong.of(Long.parseLong(lines.get(index + 1).split(" ")[column]));
      }
    }
    return OptionalLong.empty();
  }
}
