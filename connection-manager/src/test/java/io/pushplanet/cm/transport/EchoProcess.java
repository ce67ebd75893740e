package io.pushplanet.cm.transport;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/// An echo server in a process of its own, which may exhaust a resource that the tests need. Its
/// first output line that is a number is its port.
final class EchoProcess implements AutoCloseable {
  /// The lines that it has printed so far.
  final List<String> lines = new CopyOnWriteArrayList<>();

  private final CompletableFuture<Integer> port = new CompletableFuture<>();
  private final Process process;

  /// @param shell a command that the shell runs before, such as `ulimit`
  EchoProcess(String shell, List<String> jvm, Class<?> main, String... arguments)
      throws IOException {
    var command = new ArrayList<String>();
    command.addAll(List.of("sh", "-c", shell + "; exec \"$@\"", "sh"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvm);
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    Thread.ofVirtual().start(this::read);
  }

  private void read() {
    new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))
        .lines()
        .forEach(line -> {
          lines.add(line);
          if (line.matches("[0-9]+")) {
            port.complete(Integer.parseInt(line));
          }
        });
  }

  Socket connect() throws Exception {
    return new Socket("127.0.0.1", port.get(120, TimeUnit.SECONDS));
  }

  /// Whether the server echoes.
  static boolean answers(Socket socket) throws Exception {
    socket.setSoTimeout(30_000);
    try {
      return EchoServer.echoes(socket);
    } catch (SocketTimeoutException silence) {
      return false;
    }
  }

  /// Writes a line to its input.
  void say() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  boolean saysThatBegan(Pressure.Kind kind) {
    return saysHowOften("event=pressure_began", kind) > 0;
  }

  boolean saysThatIsOver(Pressure.Kind kind) {
    return saysHowOften("event=pressure_over", kind) > 0;
  }

  long saysHowOften(String event, Pressure.Kind kind) {
    var of = "kind=" + kind.name().toLowerCase(Locale.ROOT);
    return lines.stream().filter(line -> line.contains(event) && line.contains(of)).count();
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().orTimeout(20, TimeUnit.SECONDS).join();
  }
}
