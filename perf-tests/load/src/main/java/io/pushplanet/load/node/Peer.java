package io.pushplanet.load.node;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.process.Readiness;
import io.pushplanet.quickstart.services.Port;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// A comparable product with its default settings, except for limits that would end the comparison.
/// Every peer accepts all clients, and so saves the check of credentials.
public final class Peer implements Server {
  private static final Duration READY_WITHIN = Duration.ofSeconds(120);
  private static final Duration STOPS_WITHIN = Duration.ofSeconds(20);
  private static final Duration DOWNLOADED_WITHIN = Duration.ofMinutes(5);

  private final String name;
  private final ChildProcess process;
  private final int port;
  private final boolean jvm;

  private Peer(String name, ChildProcess process, int port, boolean jvm) {
    this.name = name;
    this.process = process;
    this.port = port;
    this.jvm = jvm;
  }

  /// Mosquitto as installed on this machine; empty without it.
  public static Optional<Peer> mosquitto(Path directory) {
    Optional<Path> program =
        Stream.of("/usr/sbin/mosquitto", "/usr/bin/mosquitto", "/usr/local/sbin/mosquitto")
            .map(Path::of)
            .filter(Files::isExecutable)
            .findFirst();
    return program.map(found -> {
      int port = Port.free();
      Path settings = directory.resolve("mosquitto.conf");
      write(
          settings,
          """
          listener %d 127.0.0.1
          allow_anonymous true
          set_tcp_nodelay true
          connection_messages false
          """
              .formatted(port));
      return start(
          "mosquitto",
          List.of(found.toString(), "-c", settings.toString()),
          directory,
          port,
          false);
    });
  }

  /// A broker from Maven Central, started from the standalone project `perf-tests/peer-NAME`; empty
  /// where its artifacts are not available. It is not a module of our build, so its artifacts are
  /// on no class path of a product.
  ///
  /// @param main its source file, run as such
  public static Optional<Peer> java(
      Path root, String name, String main, List<String> jvmFlags, Path directory) {
    Path project = root.resolve("perf-tests/peer-" + name);
    Path libraries = project.resolve("target/lib");
    if (!Files.isDirectory(libraries) && !download(root, project, libraries, directory)) {
      return Optional.empty();
    }
    int port = Port.free();
    List<String> command = new ArrayList<>();
    command.add(JvmFlags.java());
    command.addAll(JvmFlags.COMMON);
    command.addAll(jvmFlags);
    command.addAll(
        List.of(
            "-cp",
            libraries + "/*",
            project.resolve(main).toString(),
            Integer.toString(port),
            directory.resolve(name).toString()));
    return Optional.of(start(name, command, directory, port, true));
  }

  private static boolean download(Path root, Path project, Path libraries, Path directory) {
    ChildProcess maven =
        ChildProcess.start(
            new Command(
                "download-" + project.getFileName(),
                List.of(
                    root.resolve("mvnw").toString(),
                    "-q",
                    "-f",
                    project.resolve("pom.xml").toString(),
                    "dependency:copy-dependencies",
                    "-DoutputDirectory=" + libraries),
                Map.of(),
                root,
                directory.resolve("download.log")));
    boolean ended = maven.waitFor(DOWNLOADED_WITHIN);
    maven.stop(Duration.ZERO);
    return ended && maven.exitCode() == 0 && Files.isDirectory(libraries);
  }

  private static Peer start(
      String name, List<String> command, Path directory, int port, boolean jvm) {
    ChildProcess process =
        ChildProcess.start(
            new Command(name, command, Map.of(), directory, directory.resolve(name + ".log")));
    try {
      Readiness.await(process, READY_WITHIN, () -> takesConnections(port));
      return new Peer(name, process, port, jvm);
    } catch (ProcessFailed e) {
      process.kill9();
      throw e;
    }
  }

  private static boolean takesConnections(int port) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      return socket.isConnected();
    }
  }

  private static void write(Path file, String text) {
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public long pid() {
    return process.pid();
  }

  @Override
  public InetSocketAddress mqtt() {
    return new InetSocketAddress("127.0.0.1", port);
  }

  @Override
  public Sender fanOut() {
    return new Publisher("tcp://127.0.0.1:" + port);
  }

  @Override
  public boolean isJvm() {
    return jvm;
  }

  @Override
  public void close() {
    process.stop(STOPS_WITHIN);
  }
}
