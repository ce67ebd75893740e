package io.pushplanet.load.measure;

import io.pushplanet.load.node.Usage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.stream.Stream;

/// The processor time (user and system) of programs so far, from `/proc/PID/stat`
/// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html), each with its children, including
/// ended ones: Redis rewrites its log in a child, whose time would otherwise be missing when it
/// ends. In steps of 10 ms.
///
/// The compiler threads of JVMs are counted separately, as in [Usage]: their work is done once in
/// the life of a process.
///
/// @param used by each program, without compilers
/// @param compilers of all programs together
public record ProcessorTime(Map<String, Duration> used, Duration compilers) {
  /// USER_HZ is 100 on every Linux that Java runs on.
  private static final Duration TICK = Duration.ofMillis(10);

  private static final int USER_TIME = 14;
  private static final int SYSTEM_TIME = 15;
  private static final int USER_TIME_OF_ENDED = 16;
  private static final int SYSTEM_TIME_OF_ENDED = 17;

  public ProcessorTime {
    used = Map.copyOf(used);
  }

  /// Of these programs by their process ids, and of this JVM as `load`. Programs elsewhere are left
  /// out.
  public static ProcessorTime now(Map<String, Long> pids) {
    Map<String, Duration> used = new TreeMap<>();
    pids.forEach((program, pid) -> {
      if (pid > 0) {
        ofProcess(pid, ProcessorTime::read)
            .ifPresent(time -> used.put(program.replace('_', '-'), time));
      }
    });
    Duration compilers =
        pids.values().stream()
            .filter(pid -> pid > 0)
            .flatMap(pid -> ofProcess(pid, ProcessorTime::readCompilers).stream())
            .reduce(Duration.ZERO, Duration::plus);
    ofProcess(ProcessHandle.current().pid(), ProcessorTime::read)
        .ifPresent(time -> used.put("load", time));
    return new ProcessorTime(used, compilers);
  }

  /// The time of each program between then and now.
  public Map<String, Duration> since(ProcessorTime then) {
    Map<String, Duration> difference = new TreeMap<>();
    used.forEach((program, time) -> {
      Duration before = then.used.get(program);
      if (before != null) {
        difference.put(program, time.minus(before));
      }
    });
    return difference;
  }

  /// Microseconds of each program between then and now, for each of these operations.
  public Map<String, Double> perOperation(ProcessorTime then, long operations) {
    Map<String, Double> micros = new TreeMap<>();
    since(then)
        .forEach((program, time) ->
            micros.put(program, time.toNanos() / 1_000.0 / Math.max(1, operations)));
    return micros;
  }

  private static Optional<Duration> ofProcess(long pid, LongFunction<Duration> read) {
    return ProcessHandle.of(pid)
        .map(process ->
            Stream.concat(Stream.of(process), process.descendants())
                .map(each -> read.apply(each.pid()))
                .reduce(Duration.ZERO, Duration::plus));
  }

  private static Duration read(long pid) {
    try {
      Path process = Path.of("/proc/" + pid);
      String stat = Files.readString(process.resolve("stat"));
      return own(stat).plus(ofEndedChildren(stat)).minus(compilers(process));
    } catch (IOException e) {
      // It ended between the listing and the read.
      return Duration.ZERO;
    }
  }

  private static Duration readCompilers(long pid) {
    try {
      return compilers(Path.of("/proc/" + pid));
    } catch (IOException e) {
      // As above.
      return Duration.ZERO;
    }
  }

  private static Duration compilers(Path process) throws IOException {
    try (Stream<Path> threads = Files.list(process.resolve("task"))) {
      return threads
          .filter(Usage::compiles)
          .map(thread -> thread.resolve("stat"))
          .map(ProcessorTime::readThread)
          .reduce(Duration.ZERO, Duration::plus);
    }
  }

  private static Duration readThread(Path stat) {
    try {
      // A thread's file also counts the ended children of its process.
      return own(Files.readString(stat));
    } catch (IOException e) {
      // As above.
      return Duration.ZERO;
    }
  }

  static Duration own(String stat) {
    return fields(stat, USER_TIME, SYSTEM_TIME);
  }

  /// The time of children that have ended and were waited for, and of their children.
  static Duration ofEndedChildren(String stat) {
    return fields(stat, USER_TIME_OF_ENDED, SYSTEM_TIME_OF_ENDED);
  }

  /// The name in the second field may hold blanks and brackets: count from the last bracket.
  private static Duration fields(String stat, int user, int system) {
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return TICK.multipliedBy(Long.parseLong(fields[user - 3]) + Long.parseLong(fields[system - 3]));
  }
}
