package io.pushplanet.load.node;

import io.pushplanet.quickstart.platform.BuiltPrograms;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.Readiness;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// Clients that send notifications, ours and others, each in a process of its own, and one server
/// for all of them: the program `SenderProgram` of gateway-worker's tests.
public final class ProviderSenders implements AutoCloseable {
  /// From Korea to the US.
  public static final Duration ROUND_TRIP = Duration.ofMillis(150);

  private static final Duration READY_WITHIN = Duration.ofSeconds(60);
  private static final Duration STOPS_WITHIN = Duration.ofSeconds(5);
  private static final Duration MEASURED_WITHIN = Duration.ofMinutes(30);

  private final Path directory;
  private final Path authority;
  private final List<String> java;
  private final ChildProcess server;
  private final Map<String, Long> ports;

  private ProviderSenders(
      Path directory,
      Path authority,
      List<String> java,
      ChildProcess server,
      Map<String, Long> ports) {
    this.directory = directory;
    this.authority = authority;
    this.java = java;
    this.server = server;
    this.ports = ports;
  }

  /// Starts the server.
  ///
  /// @throws IllegalStateException where gateway-worker's test classes are not built
  public static ProviderSenders start(Path root, Path directory) {
    return start(root, directory, directory.resolve("authority"), ROUND_TRIP);
  }

  /// The same, with the certificates of an existing authority.
  ///
  /// @param roundTrip to the far server
  public static ProviderSenders start(
      Path root, Path directory, Path authority, Duration roundTrip) {
    Path classes = root.resolve("gateway-worker/target/test-classes");
    if (!Files.exists(classes.resolve("io/pushplanet/gateway/http2/SenderProgram.class"))) {
      throw new IllegalStateException(
          "clients and server are among gateway-worker's test classes, which are not built:"
              + " ./mvnw -Pfast -DskipTests package");
    }
    List<String> java = new ArrayList<>();
    java.add(JvmFlags.java());
    java.addAll(JvmFlags.COMMON);
    java.addAll(
        List.of(
            "-Xmx1g",
            "-Dlogging.level.root=WARN",
            "-cp",
            String.join(
                ":",
                classes.toString(),
                new BuiltPrograms(root).runnable(Program.WORKER).toString(),
                root.resolve("perf-tests/simulators/target/classes").toString(),
                root.resolve("perf-tests/load/target/lib") + "/*"),
            "io.pushplanet.gateway.http2.SenderProgram"));
    List<String> command = new ArrayList<>(java);
    command.addAll(List.of("server", authority.toString(), Long.toString(roundTrip.toMillis())));
    ChildProcess server = ChildProcess.start(command("apns-server", command, directory));
    Readiness.await(server, READY_WITHIN, () -> server.lastLogLines(1).endsWith("ready=1"));
    return new ProviderSenders(
        directory, authority, java, server, Figures.parse(server.lastLogLines(1)));
  }

  /// The address of the near server, which answers everything well.
  public int serverPort() {
    return Integer.parseInt(port("port"));
  }

  /// The address of the same server with a long round trip.
  public int farPort() {
    return Integer.parseInt(port("far"));
  }

  /// The cost of each client's notifications at full speed, by connections and requests in flight.
  /// The clients take turns at each load.
  public List<Map<String, Long>> speed(List<String> clients, Duration each) {
    String seconds = Long.toString(each.toSeconds());
    String turns = directory.resolve("turns").toString();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<CompletableFuture<Map<String, Long>>> figures =
          clients.stream()
              .map(client ->
                  CompletableFuture.supplyAsync(
                      () -> figures("speed", client, port("port"), seconds, turns), threads))
              .toList();
      return figures.stream().map(CompletableFuture::join).toList();
    }
  }

  /// A client's rate with a long round trip.
  public Map<String, Long> distance(String client, Duration each) {
    return figures("distance", client, port("far"), port("small"), Long.toString(each.toSeconds()));
  }

  /// The outcome of a client's notifications when the server misbehaves.
  public Map<String, Long> faults(String client) {
    return figures("faults", client);
  }

  private String port(String name) {
    return Long.toString(ports.getOrDefault(name, 0L));
  }

  private Map<String, Long> figures(String what, String client, String... rest) {
    List<String> command = new ArrayList<>(java);
    command.addAll(List.of(what, client, authority.toString()));
    command.addAll(List.of(rest));
    return Figures.of(command(what + "-" + client, command, directory), MEASURED_WITHIN);
  }

  private static Command command(String name, List<String> arguments, Path directory) {
    return new Command(name, arguments, Map.of(), directory, directory.resolve(name + ".log"));
  }

  @Override
  public void close() {
    server.stop(STOPS_WITHIN);
  }
}
