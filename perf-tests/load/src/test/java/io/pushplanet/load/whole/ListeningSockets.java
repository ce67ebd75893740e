package io.pushplanet.load.whole;

import io.pushplanet.quickstart.process.ChildRecord;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// The TCP sockets on which a platform's processes listen, in the words of Linux
/// (https://docs.kernel.org/networking/proc_net_tcp.html).
final class ListeningSockets {
  private static final String LISTEN = "0A";
  private static final int ADDRESS = 1;
  private static final int STATE = 3;
  private static final int INODE = 9;

  private ListeningSockets() {}

  /// @param state the platform's folder, where its processes are recorded
  static List<InetSocketAddress> below(Path state) throws IOException {
    Set<String> ours = new HashSet<>();
    List<ProcessHandle> children =
        ChildRecord.below(state).stream()
            .filter(record -> record.pid() != ProcessHandle.current().pid())
            .flatMap(record -> record.process().stream())
            .flatMap(child -> Stream.concat(Stream.of(child), child.descendants()))
            .toList();
    for (ProcessHandle child : children) {
      ours.addAll(inodesOf(child));
    }
    var sockets = new ArrayList<InetSocketAddress>();
    for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
      for (String line : Files.readAllLines(Path.of(table))) {
        String[] fields = line.strip().split("\\s+");
        if (fields[STATE].equals(LISTEN) && ours.contains(fields[INODE])) {
          sockets.add(address(fields[ADDRESS]));
        }
      }
    }
    return sockets;
  }

  private static Set<String> inodesOf(ProcessHandle process) throws IOException {
    Set<String> inodes = new HashSet<>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        // A file may be closed meanwhile, but a listening socket is not.
        if (Files.isSymbolicLink(descriptor)) {
          String target = Files.readSymbolicLink(descriptor).toString();
          if (target.startsWith("socket:[")) {
            inodes.add(target.substring("socket:[".length(), target.length() - 1));
          }
        }
      }
    }
    return inodes;
  }

  /// `0100007F:1F90`: words of four bytes, each in the processor's order, and the port.
  private static InetSocketAddress address(String text) throws IOException {
    String[] parts = text.split(":", 2);
    ByteBuffer told = ByteBuffer.wrap(HexFormat.of().parseHex(parts[0]));
    ByteBuffer bytes = ByteBuffer.allocate(told.capacity()).order(ByteOrder.nativeOrder());
    while (told.hasRemaining()) {
      bytes.putInt(told.getInt());
    }
    return new InetSocketAddress(
        InetAddress.getByAddress(bytes.array()), Integer.parseInt(parts[1], 16));
  }
}
