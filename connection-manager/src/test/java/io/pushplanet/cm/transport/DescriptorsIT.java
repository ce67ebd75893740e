package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/// A real server that really runs out of file descriptors: a process of its own with few of them.
class DescriptorsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int DESCRIPTORS = 400;

  @Test
  void without_descriptors_accepting_pauses_with_one_line_and_resumes_when_some_are_back()
      throws Exception {
    List<String> lines = new CopyOnWriteArrayList<>();
    var process = server();
    var clients = new ArrayList<Socket>();
    try {
      int port = port(process, lines);
      for (int client = 0; client < DESCRIPTORS; client++) {
        clients.add(new Socket("127.0.0.1", port));
      }
      Eventually.within(PATIENCE, () -> assertThat(lines).anyMatch(began()));
      assertThat(answers(clients.getFirst())).as("who is in stays in").isTrue();

      for (var client : clients.subList(0, DESCRIPTORS / 2)) {
        client.close();
      }

      assertThat(answers(clients.getLast())).as("who waited in the kernel's line").isTrue();
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(lines)
                  .anyMatch(line ->
                      line.contains("event=pressure_over") && line.contains("descriptors")));
      assertThat(lines).filteredOn(began()).hasSize(1);
    } finally {
      for (var client : clients) {
        client.close();
      }
      process.destroyForcibly();
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  /// The first line that is a number; all others are kept as they come.
  private static int port(Process process, List<String> lines) throws Exception {
    var port = new CompletableFuture<Integer>();
    Thread.ofVirtual()
        .start(() ->
            new BufferedReader(
                    new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
                .lines()
                .forEach(line -> {
                  lines.add(line);
                  if (line.matches("[0-9]+")) {
                    port.complete(Integer.parseInt(line));
                  }
                }));
    return port.get(120, TimeUnit.SECONDS);
  }

  private static Predicate<String> began() {
    return line -> line.contains("event=pressure_began") && line.contains("kind=descriptors");
  }

  private static boolean answers(Socket socket) throws Exception {
    socket.setSoTimeout(30_000);
    try {
      return EchoServer.echoes(socket);
    } catch (SocketTimeoutException silence) {
      return false;
    }
  }

  private static Process server() throws Exception {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return new ProcessBuilder(
            "sh",
            "-c",
            "ulimit -n " + DESCRIPTORS + "; exec \"$@\"",
            "sh",
            java,
            "-Xmx64m",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            FewDescriptors.class.getName())
        .redirectErrorStream(true)
        .start();
  }
}
