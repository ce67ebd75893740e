package io.pushplanet.load.node;

import io.pushplanet.quickstart.platform.BuiltPrograms;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.process.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A node's table filled with sessions on fake sockets, in a process of its own: the program
/// `FullTable` of connection-manager's tests. It is the whole node except for the JDK's socket
/// objects, the directory and the inbox.
///
/// @param sessions authenticated and subscribed sessions
/// @param heapBytes in use after three collections
/// @param residentBytes of the process at that time
/// @param peakResidentBytes the peak
/// @param sweepMicros the time of one sweep over all sessions
public record FullTable(
    long sessions, long heapBytes, long residentBytes, long peakResidentBytes, long sweepMicros) {
  private static final Duration FILLED_WITHIN = Duration.ofMinutes(15);

  /// Empty where connection-manager's test classes are not built.
  ///
  /// @param heapMegabytes limit of its heap
  public static Optional<FullTable> fill(
      Path root, int sessions, int heapMegabytes, Path directory) {
    Path classes = root.resolve("connection-manager/target/test-classes");
    if (!Files.exists(classes.resolve("io/pushplanet/cm/FullTable.class"))) {
      return Optional.empty();
    }
    Path node = new BuiltPrograms(root).runnable(Program.CONNECTION_MANAGER);
    List<String> command = new ArrayList<>();
    command.add(JvmFlags.java());
    command.addAll(JvmFlags.COMMON);
    command.addAll(
        List.of(
            "-Xmx" + heapMegabytes + "m",
            "-cp",
            classes + ":" + node,
            "io.pushplanet.cm.FullTable",
            Integer.toString(sessions)));
    Map<String, Long> figures =
        Figures.of(
            new Command(
                "full-table", command, Map.of(), directory, directory.resolve("full-table.log")),
            FILLED_WITHIN);
    return Optional.of(
        new FullTable(
            figures.getOrDefault("sessions", 0L),
            figures.getOrDefault("heap_bytes", 0L),
            figures.getOrDefault("resident_bytes", 0L),
            figures.getOrDefault("peak_resident_bytes", 0L),
            figures.getOrDefault("sweep_micros", 0L)));
  }
}
