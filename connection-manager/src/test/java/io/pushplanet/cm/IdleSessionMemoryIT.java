package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/// What an idle device costs must not grow unnoticed. `./pushplanet bench connections` measures the same at 19,500.
class IdleSessionMemoryIT {
  private static final int WARM = 500;
  private static final int SESSIONS = 3_000;
  private static final long MOST_BYTES_PER_SESSION = 960;

  @Test
  void an_idle_subscribed_session_costs_at_most_960_bytes_of_heap_and_direct_memory()
      throws Exception {
    try (var node = TestNode.start()) {
      var devices = devices(node.port("mqtt"));
      try (var answers = devices.inputReader(StandardCharsets.UTF_8)) {
        connect(devices, answers, WARM);
        long before = liveBytes();

        connect(devices, answers, SESSIONS);

        // Something else in this JVM may be under way for a moment; what a session holds, it holds
        // for good.
        Eventually.within(
            Duration.ofSeconds(30),
            () ->
                assertThat((liveBytes() - before) / SESSIONS)
                    .as("bytes per session")
                    .isBetween(300L, MOST_BYTES_PER_SESSION));
      } finally {
        devices.destroyForcibly();
      }
    }
  }

  private static Process devices(int port) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            IdleDevices.class.getName(),
            Integer.toString(port))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static void connect(Process devices, BufferedReader answers, int more)
      throws IOException {
    devices.outputWriter(StandardCharsets.UTF_8).append(more + "\n").flush();
    assertThat(answers.readLine()).as("sessions").isNotNull();
  }

  /// All objects that are alive after three collections, from the class histogram, and all direct buffers.
  private static long liveBytes() {
    System.gc();
    System.gc();
    long direct =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
    return direct
        + histogram()
            .lines()
            .map(line -> line.trim().split("\\s+"))
            .filter(fields -> fields.length >= 4 && fields[0].endsWith(":"))
            // What the collector puts into gaps is nobody's object.
            .filter(fields -> !fields[3].contains("jdk.internal.vm.Filler"))
            .mapToLong(fields -> Long.parseLong(fields[2]))
            .sum();
  }

  private static String histogram() {
    try {
      return (String)
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "gcClassHistogram",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
    } catch (JMException unreadable) {
      throw new AssertionError("this JVM does not tell what is in its heap", unreadable);
    }
  }
}
