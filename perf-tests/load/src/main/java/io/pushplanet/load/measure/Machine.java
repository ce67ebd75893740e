package io.pushplanet.load.measure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/// The machine and the commit of a benchmark.
public final class Machine {
  private Machine() {}

  /// `2 x Intel(R) Xeon(R) @ 2.10GHz, 23 GB, Linux 6.18, JDK 25.0.3`
  public static String description() {
    String processor = firstValue(Path.of("/proc/cpuinfo"), "model name", "unknown processor");
    String memory = firstValue(Path.of("/proc/meminfo"), "MemTotal", "0 kB");
    long gigabytes = Long.parseLong(memory.replaceAll("[^0-9]", "")) / (1024 * 1024);
    return Runtime.getRuntime().availableProcessors()
        + " x "
        + processor
        + ", "
        + gigabytes
        + " GB, "
        + System.getProperty("os.name")
        + " "
        + System.getProperty("os.version")
        + ", JDK "
        + System.getProperty("java.version");
  }

  /// The commit of the repository, `unknown` outside of one.
  public static String commit(Path root) {
    try {
      Process git =
          new ProcessBuilder("git", "rev-parse", "--short=10", "HEAD")
              .directory(root.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String answer =
          new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
      boolean ended = git.waitFor(10, TimeUnit.SECONDS);
      return ended && !answer.isEmpty() ? answer : "unknown";
    } catch (IOException e) {
      return "unknown";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }

  private static String firstValue(Path file, String key, String otherwise) {
    try (var lines = Files.lines(file)) {
      return lines
          .filter(line -> line.startsWith(key))
          .findFirst()
          .map(line -> line.substring(line.indexOf(':') + 1).trim())
          .orElse(otherwise);
    } catch (IOException e) {
      return otherwise;
    }
  }
}
