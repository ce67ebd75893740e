package io.pushplanet.quickstart.services;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.process.Readiness;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// A private Redis on the loopback address, with its append-only file synced every second.
final class RedisServer implements LocalServer {
  private static final Duration START_DEADLINE = Duration.ofSeconds(60);
  private static final int ANSWER_MILLIS = 2000;

  private final String description;
  private final Path program;
  private final Path directory;
  private final int port;

  private RedisServer(String description, Path program, Path directory, int port) {
    this.description = description;
    this.program = program;
    this.directory = directory.toAbsolutePath();
    this.port = port;
  }

  static Optional<LocalServer> installed(Path directory, int port) {
    return Programs.find("redis-server")
        .map(program ->
            new RedisServer("Redis (installed: " + program + ")", program, directory, port));
  }

  static LocalServer embedded(EmbeddedFiles files, Path directory, int port) {
    Path folder = files.unpack("embedded-redis", "redis-server-", name -> true);
    return new RedisServer(
        "Redis 6.2 (embedded)", folder.resolve(programOfThisMachine()), directory, port);
  }

  private static String programOfThisMachine() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    boolean arm = System.getProperty("os.arch").equals("aarch64");
    if (system.startsWith("linux")) {
      return arm ? "6.2.7-linux-arm64" : "6.2.6-v5-linux-amd64";
    }
    if (system.startsWith("mac")) {
      return arm ? "6.2.6-v5-darwin-arm64" : "6.2.6-v5-darwin-amd64";
    }
    throw new ProcessFailed(
        "there is no embedded Redis for "
            + system
            + "; install Redis, or give --services=external");
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public Duration stopGrace() {
    return Duration.ofSeconds(10);
  }

  @Override
  public Readiness start() {
    List<String> arguments =
        List.of(
            program.toString(),
            "--port",
            Integer.toString(port),
            "--bind",
            "127.0.0.1",
            "--dir",
            directory.toString(),
            "--appendonly",
            "yes",
            "--appendfsync",
            "everysec",
            "--save",
            "",
            "--daemonize",
            "no");
    ChildProcess process =
        ChildProcess.start(
            new Command("Redis", arguments, Map.of(), directory, directory.resolve("redis.log")));
    return new Readiness(process, START_DEADLINE, this::answersPing);
  }

  private boolean answersPing() throws IOException {
    try (var socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", port), ANSWER_MILLIS);
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readNBytes(5), StandardCharsets.US_ASCII)
          .equals("+PONG");
    }
  }
}
