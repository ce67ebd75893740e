package io.pushplanet.quickstart.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// When a process started, as words that stay the same while it lives and that no other process with its id has. The clock
/// serves only where there is nothing better: [ProcessHandle.Info#startInstant()] on Linux is the ticks since boot added to
/// the time of the boot, and that moves with every step of the clock.
final class ProcessStart {
  /// After the name in parentheses come the fields from the third on; the start is the 22nd
  /// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html).
  private static final int TICKS = 22 - 3;

  private final Path proc;

  /// @param proc where Linux tells of its processes; elsewhere there is none
  ProcessStart(Path proc) {
    this.proc = proc;
  }

  /// @return nothing when the process has ended
  static Optional<String> of(ProcessHandle process) {
    return new ProcessStart(Path.of("/proc")).read(process);
  }

  /// `ticks:4711 boot:0c4e…` on Linux, else `millis:1790000000000`.
  Optional<String> read(ProcessHandle process) {
    Path boot = proc.resolve("sys/kernel/random/boot_id");
    if (Files.notExists(boot)) {
      return process.info().startInstant().map(start -> "millis:" + start.toEpochMilli());
    }
    try {
      String stat = Files.readString(proc.resolve(Long.toString(process.pid())).resolve("stat"));
      List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
      return Optional.of("ticks:" + fields.get(TICKS) + " boot:" + Files.readString(boot).strip());
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
