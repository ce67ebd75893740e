package io.pushplanet.quickstart.services;

import io.pushplanet.migrations.Migrations;
import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.process.Readiness;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/// MySQL, Redis and an AMQP broker, running and with the schema applied. They end with this JVM,
/// even by `kill -9`.
///
/// Integration tests call {@link #forTests()}; a test fails when a service cannot start, and is
/// never skipped. Each service can be killed, stopped and started again on the same port and data.
/// Thread-safe.
public final class LocalServices implements AutoCloseable {
  private static final int MAX_STARTS = 3;
  private static final String MAX_CONNECT_MILLIS = "10000";

  private final MySqlAddress mysql;
  private final URI redis;
  private final URI amqp;
  private final Map<Service, Running> servers;

  private LocalServices(MySqlAddress mysql, URI redis, URI amqp, Map<Service, Running> servers) {
    this.mysql = mysql;
    this.redis = redis;
    this.amqp = amqp;
    this.servers = servers;
  }

  /// Starts the services on free ports, with their data below `stateDirectory` (not in the system's
  /// temporary folder).
  ///
  /// @throws ProcessFailed when one of them does not start; the others are stopped then
  public static LocalServices start(ServicesChoice choice, Path stateDirectory) {
    return start(choice, stateDirectory, new ServicePorts(0, 0, 0));
  }

  /// Starts the services on these ports. For {@link ServicesChoice#EXTERNAL} it takes their
  /// addresses from the environment variables `PUSHPLANET_MYSQL_URL`, `_USER`, `_PASSWORD`,
  /// `PUSHPLANET_REDIS_URI` and `PUSHPLANET_AMQP_URI` instead.
  public static LocalServices start(
      ServicesChoice choice, Path stateDirectory, ServicePorts ports) {
    if (choice == ServicesChoice.EXTERNAL) {
      return external(
          MySqlAddress.of(
              required("PUSHPLANET_MYSQL_URL"),
              required("PUSHPLANET_MYSQL_USER"),
              required("PUSHPLANET_MYSQL_PASSWORD")),
          URI.create(required("PUSHPLANET_REDIS_URI")),
          URI.create(required("PUSHPLANET_AMQP_URI")));
    }
    Map<Service, Running> servers = startAll(choice, stateDirectory.toAbsolutePath(), ports);
    var services =
        new LocalServices(
            MySqlAddress.local(port(servers, Service.MYSQL)),
            URI.create("redis://127.0.0.1:" + port(servers, Service.REDIS)),
            AmqpReadiness.local(port(servers, Service.AMQP)),
            servers);
    services.migrate();
    return services;
  }

  /// Servers that already run. The schema is applied; nothing is started or stopped.
  ///
  /// @throws ProcessFailed when MySQL cannot be reached, or refuses the login
  public static LocalServices external(MySqlAddress mysql, URI redis, URI amqp) {
    connectOnce(mysql);
    var services = new LocalServices(mysql, redis, amqp, Map.of());
    services.migrate();
    return services;
  }

  /// The services of this test JVM: started at the first call, stopped with the JVM. The system
  /// property or environment variable `PUSHPLANET_SERVICES` (`auto`, `embedded`, `installed`,
  /// `external`) says which; `auto` unless given.
  public static LocalServices forTests() {
    return ServicesForTests.shared();
  }

  public MySqlAddress mysql() {
    return mysql;
  }

  /// `redis://127.0.0.1:port`
  public URI redis() {
    return redis;
  }

  /// `amqp://guest:guest@127.0.0.1:port/%2f`
  public URI amqp() {
    return amqp;
  }

  /// For people: the program and where it comes from.
  public String description(Service service) {
    return Optional.ofNullable(servers.get(service))
        .map(running -> running.server.description())
        .orElse("external");
  }

  /// The data of a server of the other kind, installed or embedded, in the same state directory;
  /// this server does not see it.
  public Optional<Path> dataOfOthers(Service service) {
    return Optional.ofNullable(servers.get(service))
        .map(running -> running.others)
        .filter(Files::exists);
  }

  /// Whether the broker is RabbitMQ, as in production, and not the embedded one.
  public boolean isRabbitMq() {
    return Optional.ofNullable(servers.get(Service.AMQP))
        .map(running -> running.server instanceof RabbitMqServer)
        .orElse(true);
  }

  public boolean isRunning(Service service) {
    return running(service).process().isRunning();
  }

  /// The process of a service that this object has started.
  public ChildProcess process(Service service) {
    return running(service).process();
  }

  /// SIGKILL. Returns when the process is gone.
  public void kill9(Service service) {
    running(service).process().kill9();
  }

  /// Runs `rabbitmqctl` on the broker that this object has started.
  ///
  /// @throws IllegalStateException when it is not RabbitMQ
  public void rabbitmqctl(String... arguments) {
    if (!(running(Service.AMQP).server instanceof RabbitMqServer server)) {
      throw new IllegalStateException(description(Service.AMQP) + " has no rabbitmqctl");
    }
    server.control(List.of(arguments));
  }

  /// A clean stop. Returns when the process is gone.
  public void stop(Service service) {
    running(service).stop();
  }

  /// Restarts a service on the same port and data; stops it first if it still runs. Returns when it
  /// accepts connections again.
  public void restart(Service service) {
    running(service).restart();
  }

  /// Restarts a service like [#restart(Service)], without waiting until it accepts connections.
  public Readiness startAgain(Service service) {
    return running(service).startAgain();
  }

  /// Stops all started services at once.
  @Override
  public void close() {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      servers.values().forEach(running -> executor.execute(running::close));
    }
  }

  /// Like {@link #close()}, but with SIGKILL: for data that is no longer needed.
  void kill() {
    servers.values().forEach(Running::kill);
  }

  /// The migrations connect again and again, for minutes, and without a word here.
  private static void connectOnce(MySqlAddress mysql) {
    var properties = new Properties();
    properties.setProperty("user", mysql.user());
    properties.setProperty("password", mysql.password());
    properties.setProperty("connectTimeout", MAX_CONNECT_MILLIS);
    properties.setProperty("socketTimeout", MAX_CONNECT_MILLIS);
    try {
      DriverManager.getConnection(mysql.jdbcUrl(), properties).close();
    } catch (SQLException e) {
      throw new ProcessFailed(
          "MySQL at %s:%d cannot be used: %s"
              .formatted(
                  mysql.host(),
                  mysql.port(),
                  String.valueOf(e.getMessage()).lines().findFirst().orElse("")),
          e);
    }
  }

  private void migrate() {
    try {
      Migrations.migrate(mysql.jdbcUrl(), mysql.user(), mysql.password());
    } catch (RuntimeException e) {
      close();
      throw new ProcessFailed(
          "the schema cannot be brought up to date in " + mysql + ": " + e.getMessage(), e);
    }
  }

  private static int port(Map<Service, Running> servers, Service service) {
    return Objects.requireNonNull(servers.get(service), "every service has a server").server.port();
  }

  private Running running(Service service) {
    Running running = servers.get(service);
    if (running == null) {
      throw new IllegalStateException(
          service + " is external: it was not started here and cannot be stopped here");
    }
    return running;
  }

  private static String required(String variable) {
    String value = System.getProperty(variable, System.getenv(variable));
    if (value == null || value.isEmpty()) {
      throw new IllegalArgumentException(
          "external services need the environment variable " + variable);
    }
    return value;
  }

  /// @param others the data of a server of the other kind
  private record Chosen(LocalServer server, Path others) {}

  /// One at a time: the embedded servers' files are unpacked under a lock between processes, which
  /// threads cannot share.
  private static synchronized Chosen choose(
      ServicesChoice choice, Path state, Service service, int port) {
    EmbeddedFiles files = EmbeddedFiles.ofThisBuild();
    Path embedded = state.resolve("embedded-" + folder(service));
    Path installed = state.resolve("installed-" + folder(service));
    return switch (choice) {
      case EMBEDDED -> new Chosen(embedded(service, files, embedded, port), installed);
      case INSTALLED ->
          installed(service, installed, port)
              .map(server -> new Chosen(server, embedded))
              .orElseThrow(() -> new ProcessFailed(notInstalled(service)));
      case AUTO ->
          installed(service, installed, port)
              .map(server -> new Chosen(server, embedded))
              .orElseGet(() -> new Chosen(embedded(service, files, embedded, port), installed));
      case EXTERNAL -> throw new IllegalStateException("external services are not started");
    };
  }

  private static String folder(Service service) {
    return switch (service) {
      case MYSQL -> "mysql";
      case REDIS -> "redis";
      case AMQP -> "amqp";
    };
  }

  private static Optional<LocalServer> installed(Service service, Path directory, int port) {
    return switch (service) {
      case MYSQL -> MariaDbServer.installed(directory, port);
      case REDIS -> RedisServer.installed(directory, port);
      case AMQP -> RabbitMqServer.installed(directory, port);
    };
  }

  private static LocalServer embedded(
      Service service, EmbeddedFiles files, Path directory, int port) {
    return switch (service) {
      case MYSQL -> MariaDbServer.embedded(files, directory, port);
      case REDIS -> RedisServer.embedded(files, directory, port);
      case AMQP -> new QpidServer(files, directory, port);
    };
  }

  private static String notInstalled(Service service) {
    String wanted =
        switch (service) {
          case MYSQL -> "MariaDB (programs mariadbd and mariadb-install-db) is";
          case REDIS -> "Redis (program redis-server) is";
          case AMQP -> "RabbitMQ (programs rabbitmq-server, erl and epmd) is";
        };
    return wanted
        + " not installed on this machine. Install it, or use the services 'auto' or 'embedded'.";
  }

  private static Map<Service, Running> startAll(
      ServicesChoice choice, Path state, ServicePorts ports) {
    var starting = new EnumMap<Service, Future<Running>>(Service.class);
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Service service : Service.values()) {
        starting.put(
            service, executor.submit(() -> start(choice, state, service, ports.of(service))));
      }
    }
    var running = new EnumMap<Service, Running>(Service.class);
    List<Throwable> failures = new ArrayList<>();
    starting.forEach((service, start) -> {
      try {
        running.put(service, start.get());
      } catch (ExecutionException e) {
        failures.add(e.getCause() == null ? e : e.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        failures.add(e);
      }
    });
    if (!failures.isEmpty()) {
      running.values().forEach(Running::kill);
      throw new ProcessFailed(
          String.valueOf(failures.getFirst().getMessage()), failures.getFirst());
    }
    return running;
  }

  /// Another program may take a randomly chosen port before the server binds it: then another port
  /// is chosen.
  private static Running start(ServicesChoice choice, Path state, Service service, int port) {
    for (int start = 1; ; start++) {
      Chosen chosen = choose(choice, state, service, port == 0 ? Port.free() : port);
      try {
        return new Running(chosen);
      } catch (ProcessFailed e) {
        chosen.server.close();
        if (port != 0 || start == MAX_STARTS || Thread.currentThread().isInterrupted()) {
          throw e;
        }
      }
    }
  }

  /// A server and its present process.
  private static final class Running {
    private final LocalServer server;
    private final Path others;
    private ChildProcess process;

    Running(Chosen chosen) {
      this.server = chosen.server;
      this.others = chosen.others;
      this.process = server.start().await();
    }

    synchronized ChildProcess process() {
      return process;
    }

    synchronized void stop() {
      process.stop(server.stopGrace());
    }

    synchronized void restart() {
      stop();
      process = server.start().await();
    }

    synchronized Readiness startAgain() {
      stop();
      Readiness starting = server.start();
      process = starting.child();
      return starting;
    }

    synchronized void close() {
      stop();
      server.close();
    }

    synchronized void kill() {
      process.kill9();
      server.close();
    }
  }

  /// Deletes the data of killed services.
  static void forget(Path stateDirectory) throws IOException {
    DirectoryTree.delete(stateDirectory);
  }

  /// The one instance of a test JVM.
  private static final class ServicesForTests {
    private static @Nullable LocalServices services;

    static synchronized LocalServices shared() {
      if (services == null) {
        services = startNow();
      }
      return services;
    }

    private static LocalServices startNow() {
      String choice =
          System.getProperty(ServicesChoice.VARIABLE, System.getenv(ServicesChoice.VARIABLE));
      // In the module's own target folder: embedded MariaDB's data would not survive in
      // java.io.tmpdir.
      Path state =
          Path.of("target", "local-services", Long.toString(ProcessHandle.current().pid()))
              .toAbsolutePath();
      LocalServices started =
          start(ServicesChoice.parse(choice == null || choice.isEmpty() ? "auto" : choice), state);
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> end(started, state), "local-services-end"));
      return started;
    }

    private static void end(LocalServices started, Path state) {
      started.kill();
      try {
        forget(state);
      } catch (IOException e) {
        System.err.println("cannot delete " + state + ": " + e);
      }
    }
  }
}
