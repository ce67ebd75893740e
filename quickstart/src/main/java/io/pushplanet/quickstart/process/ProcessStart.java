package io.pushplanet.quickstart.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// When a process started, as a text that stays the same while it runs and that no other process
/// with the same id has. The clock is used only where the system has nothing better:
/// [ProcessHandle.Info#startInstant()] on Linux adds the ticks since boot to the time of the boot,
/// which changes with every step of the clock.
final class ProcessStart {
  /// The fields after the name in parentheses begin with the third; the start is the 22nd
  /// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html).
  private static final int TICKS = 22 - 3;

  private final Path proc;

  /// @param proc Linux' folder of processes; other systems have none
  ProcessStart(Path proc) {
    this.proc = proc;
  }

  /// @return empty when the process has ended
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
