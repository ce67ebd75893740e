package io.pushplanet.quickstart.services;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.process.Readiness;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A private RabbitMQ node on the loopback address, with a name server (epmd) of its own.
///
/// It calls the scripts behind the packages' wrappers, because the wrappers switch to the user
/// `rabbitmq`.
final class RabbitMqServer implements LocalServer {
  // Measured: 3.5 to 8 s on a quiet machine, 109 s once on a loaded one.
  private static final Duration START_DEADLINE = Duration.ofSeconds(180);

  private final Path script;
  private final Path epmdProgram;
  private final Path directory;
  private final int port;
  private final int distributionPort;
  private final int epmdPort;
  private @Nullable ChildProcess epmd;

  private RabbitMqServer(Path script, Path epmdProgram, Path directory, int port) {
    this.script = script;
    this.epmdProgram = epmdProgram;
    this.directory = directory.toAbsolutePath();
    this.port = port;
    this.distributionPort = Port.free();
    this.epmdPort = Port.free();
  }

  static Optional<LocalServer> installed(Path directory, int port) {
    Optional<Path> epmd = Programs.find("epmd");
    if (epmd.isEmpty() || Programs.find("erl").isEmpty()) {
      return Optional.empty();
    }
    return Stream.of(
            "/usr/lib/rabbitmq/bin/rabbitmq-server",
            "/opt/rabbitmq/sbin/rabbitmq-server",
            "/opt/homebrew/opt/rabbitmq/sbin/rabbitmq-server",
            "/usr/local/opt/rabbitmq/sbin/rabbitmq-server")
        .map(Path::of)
        .filter(Files::isExecutable)
        .findFirst()
        .map(script -> new RabbitMqServer(script, epmd.get(), directory, port));
  }

  @Override
  public String description() {
    return "RabbitMQ (installed: " + script + ")";
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public Duration stopGrace() {
    return Duration.ofSeconds(30);
  }

  @Override
  public synchronized Readiness start() {
    if (epmd == null || !epmd.isRunning()) {
      // RabbitMQ itself would start it as a daemon that never ends.
      epmd =
          ChildProcess.start(
              new Command(
                  "epmd",
                  List.of(
                      epmdProgram.toString(),
                      "-port",
                      Integer.toString(epmdPort),
                      "-address",
                      "127.0.0.1"),
                  Map.of(),
                  directory,
                  directory.resolve("epmd.log")));
    }
    ChildProcess process =
        ChildProcess.start(
            new Command(
                "RabbitMQ",
                List.of(script.toString()),
                environment(),
                directory,
                directory.resolve("rabbitmq.log")));
    return new Readiness(process, START_DEADLINE, () -> isReady(process));
  }

  private boolean isReady(ChildProcess process) throws Exception {
    if (!AmqpReadiness.opensChannel(AmqpReadiness.local(port))) {
      return false;
    }
    process.holdDescendants();
    return true;
  }

  /// Runs RabbitMQ's own `rabbitmqctl` on this node.
  void control(List<String> arguments) {
    List<String> command = new ArrayList<>(arguments);
    command.addFirst(script.resolveSibling("rabbitmqctl").toString());
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("rabbitmqctl.log").toFile());
    builder.environment().putAll(environment());
    try {
      Process process = builder.start();
      if (!process.waitFor(START_DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new ProcessFailed(command + " did not end within " + START_DEADLINE);
      }
      if (process.exitValue() != 0) {
        throw new ProcessFailed(command + " answered " + process.exitValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProcessFailed("interrupted while running " + command);
    }
  }

  private Map<String, String> environment() {
    Path plugins = directory.resolve("enabled_plugins");
    try {
      Files.createDirectories(directory);
      Files.writeString(plugins, "[].\n");
      Files.writeString(directory.resolve("rabbitmq.conf"), "disk_free_limit.absolute = 200MB\n");
      Files.writeString(directory.resolve("rabbitmq-env.conf"), "");
    } catch (IOException e) {
      throw new UncheckedIOException("cannot prepare RabbitMQ's folder " + directory, e);
    }
    return Map.ofEntries(
        // The data folder is named after the node, so the name does not contain the port, which may
        // change.
        Map.entry("RABBITMQ_NODENAME", "pushplanet@localhost"),
        Map.entry("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"),
        Map.entry("RABBITMQ_NODE_PORT", Integer.toString(port)),
        Map.entry("RABBITMQ_DIST_PORT", Integer.toString(distributionPort)),
        Map.entry("RABBITMQ_MNESIA_BASE", directory.resolve("data").toString()),
        Map.entry("RABBITMQ_LOG_BASE", directory.resolve("log").toString()),
        Map.entry("RABBITMQ_LOGS", "-"),
        Map.entry("RABBITMQ_PID_FILE", directory.resolve("rabbitmq.pid").toString()),
        Map.entry("RABBITMQ_CONF_ENV_FILE", directory.resolve("rabbitmq-env.conf").toString()),
        Map.entry("RABBITMQ_CONFIG_FILE", directory.resolve("rabbitmq.conf").toString()),
        Map.entry("RABBITMQ_ENABLED_PLUGINS_FILE", plugins.toString()),
        // Erlang's idle schedulers busy-wait by default; here they share the cores with all other
        // processes.
        Map.entry(
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
            "+sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}"),
        // Makes the script replace itself by the Erlang machine, so that a signal to our child
        // reaches the broker.
        Map.entry("RUNNING_UNDER_SYSTEMD", "true"),
        Map.entry("HOME", directory.toString()),
        Map.entry("ERL_EPMD_PORT", Integer.toString(epmdPort)),
        Map.entry("ERL_EPMD_ADDRESS", "127.0.0.1"));
  }

  @Override
  public synchronized void close() {
    if (epmd != null) {
      epmd.kill9();
    }
  }
}
