package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.quickstart.process.Jvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/// The memory cost of an idle device must not grow unnoticed. `./pushplanet bench connections`
/// measures the same at 19,500.
@Execution(ExecutionMode.CONCURRENT)
class IdleSessionMemoryIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int WARM = 500;
  private static final int SESSIONS = 6_000;
  private static final int TLS_SESSIONS = 1_000;
  private static final long SETTLED_BYTES = 120_000;
  private static final long LEAST_BYTES_PER_SESSION = 200;
  private static final long LEAST_BYTES_PER_TLS_SESSION = 2_000;
  private static final boolean EPOLL = Sockets.AUTO.resolved() == Sockets.EPOLL;
  private static final long MAX_BYTES_PER_SESSION = EPOLL ? 420 : 960;
  private static final long MAX_BYTES_PER_TLS_SESSION = EPOLL ? 5_200 : 5_740;

  /// In a process of its own: garbage of other tests in this JVM is freed at any time, and one or
  /// two megabytes of it are as much as all these sessions.
  @Test
  void an_idle_subscribed_session_costs_at_most_420_bytes_by_epoll_and_960_by_java_nio()
      throws Exception {
    try (var node = NodeProcess.start();
        var devices = IdleDevices.start(node.port("mqtt"), false)) {
      assertCost(node, devices, SESSIONS, LEAST_BYTES_PER_SESSION, MAX_BYTES_PER_SESSION);
    }
  }

  @Test
  void an_idle_subscribed_session_over_tls_costs_at_most_5200_bytes_by_epoll_and_5740_by_java_nio(
      @TempDir Path directory) throws Exception {
    var certificate = TestCertificate.make(directory);
    var certificateFile = directory.resolve("server.crt");
    var keyFile = directory.resolve("server.key");
    Files.writeString(certificateFile, certificate.certificatePem());
    Files.writeString(keyFile, certificate.keyPem());
    try (var node =
            NodeProcess.start(
                "--cm.tls.certificate=" + certificateFile, "--cm.tls.private-key=" + keyFile);
        var devices = IdleDevices.start(node.port("tls"), true)) {
      assertCost(
          node, devices, TLS_SESSIONS, LEAST_BYTES_PER_TLS_SESSION, MAX_BYTES_PER_TLS_SESSION);
    }
  }

  private static void assertCost(
      NodeProcess node, IdleDevices devices, int sessions, long least, long most)
      throws IOException {
    try (var jvm = Jvm.attach(node.pid())) {
      devices.connect(WARM);
      long before = settledBytes(jvm);

      devices.connect(sessions);

      // The node may be busy for a moment; a session's memory stays.
      Eventually.within(
          PATIENCE,
          () ->
              assertThat((bytes(jvm) - before) / sessions)
                  .as("bytes per session")
                  .isBetween(least, most));
    }
  }

  /// The bytes once two readings in a row agree to within 120 KB, so that garbage of the start is
  /// gone.
  private static long settledBytes(Jvm jvm) {
    var last = new long[] {bytes(jvm)};
    Eventually.within(
        PATIENCE,
        () -> {
          long now = bytes(jvm);
          long change = Math.abs(now - last[0]);
          last[0] = now;
          assertThat(change).as("bytes still coming or going").isLessThan(SETTLED_BYTES);
        });
    return last[0];
  }

  private static long bytes(Jvm jvm) {
    return jvm.liveBytes() + jvm.directBytes();
  }
}
