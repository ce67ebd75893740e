package io.pushplanet.load.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/// The kernel's figures of one process: memory and processor time. Processor time is the
/// scheduler's own, in nanoseconds per thread (https://docs.kernel.org/scheduler/sched-stats.html),
/// because a tick of 10 ms is a lot for an idle server.
///
/// The compiler threads of a JVM are left out: their work is done once in the life of a process,
/// and not per operation; in runs of a minute it would be half of the total.
///
/// @param threads nanoseconds of each living thread, by its id
public record Usage(long residentBytes, Map<Long, Long> threads) {
  private static final long KILOBYTE = 1024;

  public Usage {
    threads = Map.copyOf(threads);
  }

  public static Usage of(long pid) {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
      Map<Long, Long> threads = new HashMap<>();
      for (Path task : tasks.filter(task -> !compiles(task)).toList()) {
        threads.put(Long.parseLong(task.getFileName().toString()), nanos(task));
      }
      return new Usage(memory(pid, "VmRSS:"), threads);
    } catch (IOException e) {
      throw new UncheckedIOException("the process " + pid + " has ended", e);
    }
  }

  /// The process's nanoseconds since then. A thread that ended meanwhile does not count.
  public long nanosSince(Usage then) {
    return threads.entrySet().stream()
        .mapToLong(thread -> thread.getValue() - then.threads.getOrDefault(thread.getKey(), 0L))
        .sum();
  }

  /// @param task a thread's folder below `/proc/PID/task`
  public static boolean compiles(Path task) {
    try {
      return Files.readString(task.resolve("comm")).contains("CompilerThre");
    } catch (IOException e) {
      // It ended between the listing and the read.
      return true;
    }
  }

  private static long nanos(Path task) {
    try {
      return Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ")[0]);
    } catch (IOException e) {
      // It ended between the listing and the read.
      return 0;
    }
  }

  /// The peak memory of the process.
  public static long peakResidentBytes(long pid) {
    try {
      return memory(pid, "VmHWM:");
    } catch (IOException e) {
      throw new UncheckedIOException("the process " + pid + " has ended", e);
    }
  }

  private static long memory(long pid, String which) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
      return lines
          .filter(line -> line.startsWith(which))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * KILOBYTE)
          .findFirst()
          .orElse(0);
    }
  }
}
