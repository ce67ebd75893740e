package io.pushplanet.common.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/// Freezes other processes with all their children, and thaws them.
public final class Signals {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private Signals() {}

  /// SIGSTOP. Returns when all their threads have stopped, which `kill` alone does not wait for.
  public static void stop(long pid) throws Exception {
    for (var process : family(pid)) {
      send("STOP", process);
      Eventually.within(PATIENCE, () -> mustBeStopped(process));
    }
  }

  /// SIGCONT.
  public static void resume(long pid) throws Exception {
    for (var process : family(pid)) {
      send("CONT", process);
    }
  }

  private static List<Long> family(long pid) {
    var head = ProcessHandle.of(pid).orElseThrow();
    return Stream.concat(Stream.of(head), head.descendants()).map(ProcessHandle::pid).toList();
  }

  private static void send(String signal, long pid) throws Exception {
    int code = new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor();
    if (code != 0) {
      throw new IllegalStateException("kill -" + signal + " answered " + code);
    }
  }

  /// The system's own report (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html).
  private static void mustBeStopped(long pid) throws IOException {
    var threads = Path.of("/proc", Long.toString(pid), "task");
    if (!Files.exists(threads)) {
      return;
    }
    try (var each = Files.newDirectoryStream(threads)) {
      for (var thread : each) {
        var state = state(thread);
        // Stopped, or gone.
        if ("TZX".indexOf(state) < 0) {
          throw new AssertionError(thread + " is in state " + state);
        }
      }
    }
  }

  private static char state(Path thread) throws IOException {
    try {
      var stat = Files.readString(thread.resolve("stat"));
      // After the program's name, which may contain anything.
      return stat.charAt(stat.lastIndexOf(')') + 2);
    } catch (NoSuchFileException ended) {
      return 'X';
    }
  }
}
