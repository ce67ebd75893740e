package io.pushplanet.cm;

import io.pushplanet.common.testing.Signals;
import io.pushplanet.quickstart.services.LocalServices;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/// A real node in a process of its own, which can be stopped, continued and killed.
final class NodeProcess implements AutoCloseable {
  private static final Pattern STARTED =
      Pattern.compile(
          "event=node_started .*mqtt_port=(\\d+) .*tls_port=(\\d+) .*gateway_port=(\\d+)");

  private final Process process;
  private final Map<String, Integer> ports;

  private NodeProcess(Process process, Map<String, Integer> ports) {
    this.process = process;
    this.ports = ports;
  }

  static NodeProcess start(String... settings) throws Exception {
    List<String> command = new ArrayList<>();
    command.addAll(
        List.of(
            ProcessHandle.current().info().command().orElse("java"),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseG1GC",
            "-XX:+UseCompactObjectHeaders",
            // Two readings of the heap must compare live objects, without the ones that a
            // collection may free.
            "-XX:SoftRefLRUPolicyMSPerMB=0",
            "--enable-native-access=ALL-UNNAMED",
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            ConnectionManagerApplication.class.getName()));
    command.addAll(TestNode.arguments(LocalServices.forTests(), settings));
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    // The process is killed with this test in any case.
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    var started = new CompletableFuture<Map<String, Integer>>();
    Thread.ofVirtual().start(() -> read(process, started));
    try {
      return new NodeProcess(process, started.get(120, TimeUnit.SECONDS));
    } catch (Exception failed) {
      process.destroyForcibly();
      throw failed;
    }
  }

  /// Reads to the end, so that the process never blocks on its output.
  private static void read(Process process, CompletableFuture<Map<String, Integer>> started) {
    var told = new StringBuilder();
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        var matcher = STARTED.matcher(line);
        if (matcher.find()) {
          started.complete(
              Map.of(
                  "mqtt", Integer.valueOf(matcher.group(1)),
                  "tls", Integer.valueOf(matcher.group(2)),
                  "gateway", Integer.valueOf(matcher.group(3))));
        } else if (!started.isDone()) {
          told.append(line).append('\n');
        }
      }
    } catch (IOException gone) {
      // The process was killed.
    }
    started.completeExceptionally(new IllegalStateException("the node did not start:\n" + told));
  }

  int port(String listener) {
    return Objects.requireNonNull(ports.get(listener));
  }

  String gateway() {
    return "tcp://127.0.0.1:" + ports.get("gateway");
  }

  long pid() {
    return process.pid();
  }

  void stopRunning() throws Exception {
    Signals.stop(process.pid());
  }

  void continueRunning() throws Exception {
    Signals.resume(process.pid());
  }

  void kill9() throws Exception {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
