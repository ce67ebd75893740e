package io.pushplanet.load.crowd;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Processes that get only idle processor time: they stand for other machines.
final class Spare {
  private static final Path CHRT = Path.of("/usr/bin/chrt");

  /// Any other process of the session that wakes takes the processor at once. A nice value of 19 is
  /// not enough: such a task keeps its slice of milliseconds even while others wait
  /// (https://man7.org/linux/man-pages/man7/sched.7.html, "SCHED_IDLE").
  private static final List<String> ONLY_WHAT_IS_SPARE = List.of(CHRT.toString(), "--idle", "0");

  /// The numbers of the fields in `/proc/PID/stat`, and the value of SCHED_IDLE there
  /// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html).
  private static final int SESSION = 6;

  private static final int POLICY = 41;
  private static final String IDLE = "5";

  private Spare() {}

  /// The command that starts such a process; empty, and without effect, where there is no `chrt`.
  static List<String> command() {
    return Files.isExecutable(CHRT) ? ONLY_WHAT_IS_SPARE : List.of();
  }

  /// Whether the scheduler gives a process only the time that this process and the nodes leave,
  /// which are in our session.
  static boolean isOnly(long pid) {
    List<String> its = stat(pid);
    List<String> ours = stat(ProcessHandle.current().pid());
    return field(its, POLICY).equals(IDLE) && field(its, SESSION).equals(field(ours, SESSION));
  }

  private static String field(List<String> stat, int number) {
    return stat.get(number - 3);
  }

  /// The fields after the name, which is the second one.
  private static List<String> stat(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      // The name may contain blanks and brackets: count from the last bracket.
      return List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" "));
    } catch (IOException e) {
      throw new UncheckedIOException("process " + pid + " has ended", e);
    }
  }
}
