package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.quickstart.process.Jvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// What an idle device costs must not grow unnoticed. `./pushplanet bench connections` measures the same at 19,500.
class IdleSessionMemoryIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int WARM = 500;
  private static final int SESSIONS = 6_000;
  private static final long LEAST_BYTES_PER_SESSION = 200;
  private static final long MOST_BYTES_PER_SESSION =
      Sockets.AUTO.resolved() == Sockets.EPOLL ? 420 : 960;

  /// In a process of its own: what other tests left behind in this JVM goes away when it likes, and one or two megabytes
  /// of it are as much as all these sessions.
  @Test
  void an_idle_subscribed_session_costs_at_most_420_bytes_by_epoll_and_960_by_java_nio()
      throws Exception {
    try (var node = NodeProcess.start();
        var jvm = Jvm.attach(node.pid())) {
      var devices = devices(node.mqttPort());
      try (var answers = devices.inputReader(StandardCharsets.UTF_8)) {
        connect(devices, answers, WARM);
        long before = settledBytes(jvm);

        connect(devices, answers, SESSIONS);

        // The node may have something under way for a moment; what a session holds, it holds for
        // good.
        Eventually.within(
            PATIENCE,
            () ->
                assertThat((bytes(jvm) - before) / SESSIONS)
                    .as("bytes per session")
                    .isBetween(LEAST_BYTES_PER_SESSION, MOST_BYTES_PER_SESSION));
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

  /// The bytes once two looks in a row agree to within 20 bytes a session: what starting left is gone by then.
  private static long settledBytes(Jvm jvm) {
    var last = new long[] {bytes(jvm)};
    Eventually.within(
        PATIENCE,
        () -> {
          long now = bytes(jvm);
          long change = Math.abs(now - last[0]);
          last[0] = now;
          assertThat(change).as("bytes still coming or going").isLessThan(20L * SESSIONS);
        });
    return last[0];
  }

  private static long bytes(Jvm jvm) {
    return jvm.liveBytes() + jvm.directBytes();
  }
}
