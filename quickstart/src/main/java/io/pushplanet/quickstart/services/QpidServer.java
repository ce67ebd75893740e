package io.pushplanet.quickstart.services;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.Readiness;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// Qpid Broker-J with a Derby store in a JVM of its own, for trying Push Planet out where no
/// RabbitMQ is installed.
final class QpidServer implements LocalServer {
  private static final Duration START_DEADLINE = Duration.ofSeconds(120);

  private final EmbeddedFiles files;
  private final Path directory;
  private final int port;

  QpidServer(EmbeddedFiles files, Path directory, int port) {
    this.files = files;
    this.directory = directory.toAbsolutePath();
    this.port = port;
  }

  @Override
  public String description() {
    return "Qpid Broker-J (embedded; for trying out, in production you run RabbitMQ)";
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public Duration stopGrace() {
    return Duration.ofSeconds(20);
  }

  @Override
  public Readiness start() {
    List<String> arguments =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx512m",
            "-XX:+UseCompactObjectHeaders",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--sun-misc-unsafe-memory-access=allow",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dqpid.work_dir=" + directory,
            "-Dqpid.amqp_port=" + port,
            // Without this, Qpid keeps running without a port when another program has taken it.
            "-Dbroker.failStartupWithErroredChild=true",
            "-Dderby.system.home=" + directory,
            "-cp",
            files.qpidClassPath(),
            QpidBroker.class.getName());
    ChildProcess process =
        ChildProcess.start(
            new Command("Qpid", arguments, Map.of(), directory, directory.resolve("qpid.log")));
    return new Readiness(
        process, START_DEADLINE, () -> AmqpReadiness.opensChannel(AmqpReadiness.local(port)));
  }
}
