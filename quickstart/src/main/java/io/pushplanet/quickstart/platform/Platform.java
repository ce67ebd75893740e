package io.pushplanet.quickstart.platform;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.ChildRecord;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Service;
import io.pushplanet.quickstart.services.ServicePorts;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// The whole platform on this machine: MySQL, Redis and an AMQP broker, the simulators of Apple,
/// Google, Huawei and a Web Push service, and the four programs, each in a process of its own. They
/// end with this JVM, even by `kill -9`.
///
/// Used by `./pushplanet up`, and by tests that kill and restart processes. Thread-safe.
public final class Platform implements AutoCloseable {
  private static final List<Program> SPRING_PROGRAMS =
      List.of(Program.CONNECTION_MANAGER, Program.DISPATCHER, Program.WORKER, Program.DASHBOARD);

  private final Plan plan;
  private final Progress progress;
  private final StateLock lock;
  private final ProgramProcesses programs;
  private final ProgramSettings settings;
  private final Ports ports;
  private final Secrets secrets;
  private final LocalServices services;
  private final Upkeep upkeep;

  private Platform(
      Plan plan,
      OnDeath onDeath,
      Progress progress,
      StateLock lock,
      ProgramProcesses programs,
      ProgramSettings settings) {
    this.plan = plan;
    this.progress = progress;
    this.lock = lock;
    this.programs = programs;
    this.settings = settings;
    this.ports = settings.ports();
    this.secrets = settings.secrets();
    this.services = settings.services();
    this.upkeep = upkeep(onDeath);
  }

  /// Starts everything and returns when a message can be sent. A death ends it.
  ///
  /// @throws ProcessFailed when a part does not start; the parts that have started are stopped then
  public static Platform start(Plan plan, Progress progress) {
    return start(plan, OnDeath.STOP, progress);
  }

  /// Starts everything and returns when a message can be sent.
  ///
  /// @param onDeath of a server while the programs start, and of any process that [#look()] finds
  /// @throws ProcessFailed when a part does not start; the parts that have started are stopped then
  public static Platform start(Plan plan, OnDeath onDeath, Progress progress) {
    StateLock lock = StateLock.take(plan.state());
    try {
      return start(plan, onDeath, progress, lock);
    } catch (RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private static Platform start(Plan plan, OnDeath onDeath, Progress progress, StateLock lock) {
    endLeftovers(plan.state());
    Ports ports = plan.ports().resolved(plan.address());
    var random = new SecureRandom();
    Optional<Secrets> kept = Secrets.kept(plan.state());
    TlsIdentity tls = TlsIdentity.in(plan.state());
    var programs =
        new ProgramProcesses(
            new BuiltPrograms(plan.root()), ports, plan.state(), plan.stopGrace(), progress);
    LocalServices services = startServicesAndSimulators(plan, ports, programs, progress);
    Secrets secrets;
    try {
      secrets =
          kept.orElseGet(
              () -> Secrets.make(plan.state(), random, Operators.exist(services.mysql())));
    } catch (RuntimeException e) {
      services.close();
      programs.stop(Program.SIMULATORS);
      throw e;
    }
    var settings =
        new ProgramSettings(
            plan.address(),
            ports,
            secrets,
            services,
            programs.simulatorsState(),
            tls,
            plan.settings());
    var platform = new Platform(plan, onDeath, progress, lock, programs, settings);
    try {
      platform.tellServices();
      platform.ensureDemoApp(random);
      platform.startPrograms();
      AddressFile.write(plan.state(), platform.addresses());
      return platform;
    } catch (RuntimeException e) {
      platform.close();
      throw e;
    }
  }

  public Addresses addresses() {
    String local = "http://" + PublicAddress.LOOPBACK + ":";
    return new Addresses(
        settings.publicUrl(Listener.DISPATCHER),
        settings.publicUrl(Listener.DASHBOARD),
        plan.address().localHost(),
        ports.of(Listener.MQTT),
        ports.of(Listener.MQTT_TLS),
        plan.address().text(),
        plan.address().isOpen() ? plan.address().networkHost() : "",
        plan.stopsWithin().toSeconds(),
        DemoApp.ID.value(),
        secrets.apiKey(),
        secrets.operatorUser(),
        secrets.operatorPassword(),
        local + ports.of(Listener.DISPATCHER_MANAGEMENT),
        local + ports.of(Listener.DASHBOARD_MANAGEMENT),
        local + ports.of(Listener.WORKER_MANAGEMENT),
        local + ports.of(Listener.CM_MANAGEMENT),
        local + ports.of(Listener.SIMULATORS),
        "https://localhost:" + ports.of(Listener.APNS),
        "https://localhost:" + ports.of(Listener.APNS_SANDBOX),
        "https://localhost:" + ports.of(Listener.FCM),
        "https://localhost:" + ports.of(Listener.HMS),
        "https://localhost:" + ports.of(Listener.WEBPUSH),
        programs.simulatorsState().resolve("ca.pem").toString(),
        services.mysql().jdbcUrl(),
        services.mysql().user(),
        services.mysql().password(),
        services.redis().toString(),
        services.amqp().toString(),
        new Addresses.Services(
            services.description(Service.MYSQL),
            services.description(Service.REDIS),
            services.description(Service.AMQP)),
        new Addresses.Pids(
            pid(Program.DISPATCHER),
            pid(Program.WORKER),
            pid(Program.CONNECTION_MANAGER),
            pid(Program.DASHBOARD),
            pid(Program.SIMULATORS),
            servicePid(Service.MYSQL),
            servicePid(Service.REDIS),
            servicePid(Service.AMQP)));
  }

  /// MySQL, Redis and the broker, to be killed and restarted one by one.
  public LocalServices services() {
    return services;
  }

  /// The process of a program, running or ended.
  public ChildProcess process(Program program) {
    return programs
        .of(program)
        .orElseThrow(() -> new IllegalStateException(program.text() + " was never started"));
  }

  /// SIGKILL. Returns when the process is gone.
  public void kill9(Program program) {
    process(program).kill9();
  }

  /// Restarts a program on the same ports; stops it first if it still runs. Returns when it is
  /// ready.
  public void restart(Program program) {
    programs.stop(program);
    programs.start(program, settings.of(program));
    AddressFile.write(plan.state(), addresses());
  }

  /// Looks once at all processes, and tells of each that has died. Under [OnDeath#RESTART] it
  /// starts these again, without waiting until they are ready. One thread calls this, again and
  /// again.
  ///
  /// @throws ProcessFailed when the platform should end: a process has died under [OnDeath#STOP],
  ///     or has not become ready in three starts
  public void look() {
    if (upkeep.look()) {
      AddressFile.write(plan.state(), addresses());
    }
  }

  /// Stops the programs, then the services. The data stays.
  @Override
  public void close() {
    // A thread that cancelled a start or a training has interrupted this thread, and the interrupt
    // must not cut the stop short.
    boolean interrupted = Thread.interrupted();
    AddressFile.delete(plan.state());
    // The programs before the services that they use, so that they can finish their work.
    programs.stop(springPrograms(plan));
    services.close();
    programs.stop(Program.SIMULATORS);
    lock.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// Makes the missing class caches, one after the other, while the platform keeps running. An
  /// interrupt ends it.
  public void train() {
    List<Program> untrained =
        springPrograms(plan).stream().filter(program -> !programs.isTrained(program)).toList();
    if (!untrained.isEmpty()) {
      Training.of(untrained, this::train, progress);
    }
  }

  /// Makes the class cache of one program, unless it has one: from then on it starts in less than
  /// half the time.
  public void train(Program program) {
    if (!programs.isTrained(program)) {
      programs.train(program, settings.of(program));
    }
  }

  /// Starts another process of a program beside the platform's own, such as a further node. Returns
  /// when it is ready; the caller ends it before the platform.
  ///
  /// @param name of the process and its log
  /// @param settings that differ from the platform's own: its id and all its ports, `server.port`
  ///     among them
  public ChildProcess startAnother(Program program, String name, Map<String, String> settings) {
    var environment = new HashMap<>(this.settings.of(program));
    settings.forEach((property, value) -> environment.put(Program.variable(property), value));
    return programs.startAnother(
        program, name, environment, Integer.parseInt(settings.getOrDefault("server.port", "0")));
  }

  private static List<Program> springPrograms(Plan plan) {
    return SPRING_PROGRAMS.stream().filter(program -> !plan.without().contains(program)).toList();
  }

  private static void endLeftovers(Path state) {
    // A killed supervisor leaves files behind, but no processes, unless the leash was killed with
    // it.
    AddressFile.delete(state);
    ChildRecord.below(state).stream()
        .filter(record -> !record.name().equals(StateLock.SUPERVISOR))
        .forEach(record -> record.end(Duration.ofSeconds(10)));
  }

  private static LocalServices startServicesAndSimulators(
      Plan plan, Ports ports, ProgramProcesses programs, Progress progress) {
    progress.tell("starting MySQL, Redis and the AMQP broker (" + plan.services().text() + ")");
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> simulators =
          executor.submit(() -> {
            programs.start(Program.SIMULATORS, Map.of());
            // Unpacks the programs while the services start: both take seconds after a build; later
            // there is nothing to unpack.
            springPrograms(plan).forEach(programs::unpack);
          });
      try {
        return with(simulators, startServices(plan, ports));
      } catch (RuntimeException e) {
        executor.shutdownNow();
        throw e;
      }
    } catch (RuntimeException e) {
      // The executor has ended, so no simulators start any more.
      programs.of(Program.SIMULATORS).ifPresent(ChildProcess::kill9);
      throw e;
    }
  }

  private static LocalServices startServices(Plan plan, Ports ports) {
    Plan.External external = plan.external();
    if (external != null) {
      return LocalServices.external(external.mysql(), external.redis(), external.amqp());
    }
    return LocalServices.start(
        plan.services(),
        plan.state().resolve("services"),
        new ServicePorts(
            ports.of(Listener.MYSQL), ports.of(Listener.REDIS), ports.of(Listener.AMQP)));
  }

  /// Waits for the simulators. Services without them are closed.
  private static LocalServices with(Future<?> simulators, LocalServices services) {
    try {
      simulators.get();
      return services;
    } catch (ExecutionException e) {
      services.close();
      throw AllOrNone.unwrapped(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      services.close();
      throw new ProcessFailed("the start was interrupted", e);
    }
  }

  private void tellServices() {
    for (Service service : Service.values()) {
      progress.tell("  " + service + ": " + services.description(service));
      services
          .dataOfOthers(service)
          .ifPresent(data ->
              progress.tell(
                  "    and not what is in "
                      + data
                      + ": --services, or else "
                      + ServicesChoice.VARIABLE
                      + ", says which"));
    }
  }

  private void ensureDemoApp(SecureRandom random) {
    try (var simulators = new Rest("http://127.0.0.1:" + ports.of(Listener.SIMULATORS), "")) {
      new DemoApp(services.mysql(), secrets, random, simulators, Clock.systemUTC().instant())
          .ensure(ApiKey.parse(secrets.apiKey()).orElseThrow());
    }
  }

  private void startPrograms() {
    List<Program> starting = springPrograms(plan);
    progress.tell("starting " + String.join(", ", starting.stream().map(Program::text).toList()));
    AllOrNone.start(
        starting,
        program -> {
          long from = System.nanoTime();
          try {
            programs.start(program, settings.of(program));
          } catch (ProcessFailed e) {
            // The other programs may take long to end, and the services after them.
            progress.tell("  " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            throw e;
          }
          progress.tell(
              "  %s is ready after %.1f s"
                  .formatted(program.text(), (System.nanoTime() - from) / 1e9));
        },
        upkeep::lookAtServers);
  }

  private Upkeep upkeep(OnDeath onDeath) {
    var servers = new ArrayList<KeptProcess>();
    if (plan.services() != ServicesChoice.EXTERNAL) {
      for (Service service : Service.values()) {
        servers.add(
            new KeptProcess(
                () -> services.process(service), () -> services.startAgain(service), progress));
      }
    }
    servers.add(kept(Program.SIMULATORS));
    return new Upkeep(
        onDeath, servers, springPrograms(plan).stream().map(this::kept).toList(), progress);
  }

  private KeptProcess kept(Program program) {
    return new KeptProcess(
        () -> process(program), () -> programs.startAgain(program, settings.of(program)), progress);
  }

  private long pid(Program program) {
    return programs.of(program).map(ChildProcess::pid).orElse(0L);
  }

  private long servicePid(Service service) {
    return plan.services() == ServicesChoice.EXTERNAL ? 0 : services.process(service).pid();
  }
}
