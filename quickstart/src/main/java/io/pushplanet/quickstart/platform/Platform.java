package io.pushplanet.quickstart.platform;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.ChildRecord;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.process.Readiness;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Service;
import io.pushplanet.quickstart.services.ServicePorts;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/// The whole platform on this machine: MySQL, Redis and an AMQP broker, the simulators of Apple,
/// Google, Huawei and a Web Push service, and the four programs, each in a process of its own. They
/// end with this JVM, even by `kill -9`.
///
/// Used by `./pushplanet up`, and by tests that kill and restart processes. Thread-safe.
public final class Platform implements AutoCloseable {
  private static final Duration PROGRAM_START_DEADLINE = Duration.ofSeconds(120);
  private static final Duration PROGRAM_STOP_GRACE = Duration.ofSeconds(20);
  private static final List<Program> SPRING_PROGRAMS =
      List.of(Program.CONNECTION_MANAGER, Program.DISPATCHER, Program.WORKER, Program.DASHBOARD);

  /// A start takes some 15 s of one processor's time. More starts at once, of this platform or of
  /// another one in this process, would only make each other miss the deadline.
  private static final Semaphore STARTS = new Semaphore(Runtime.getRuntime().availableProcessors());

  private final Plan plan;
  private final List<Program> springPrograms;
  private final Ports ports;
  private final Secrets secrets;
  private final TlsIdentity tls;
  private final Progress progress;
  private final BuiltPrograms built;
  private final StateLock lock;
  private final Map<Program, ChildProcess> programs = new ConcurrentHashMap<>();
  private final LocalServices services;

  private Platform(Plan plan, Progress progress, StateLock lock) {
    this.plan = plan;
    this.springPrograms =
        SPRING_PROGRAMS.stream().filter(program -> !plan.without().contains(program)).toList();
    this.progress = progress;
    this.lock = lock;
    this.built = new BuiltPrograms(plan.root());
    endLeftovers(plan.state());
    this.ports = plan.ports().resolved();
    var random = new SecureRandom();
    this.secrets = Secrets.in(plan.state(), random);
    this.tls = TlsIdentity.in(plan.state());
    this.services = startServicesAndSimulators();
    try {
      tellServices();
      new DemoApp(services.mysql(), secrets, random, simulatorsRest(), Clock.systemUTC().instant())
          .ensure(ApiKey.parse(secrets.apiKey()).orElseThrow());
      startPrograms();
      AddressFile.write(plan.state(), addresses());
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /// Starts everything and returns when a message can be sent.
  ///
  /// @throws ProcessFailed when a part does not start; the parts that have started are stopped then
  public static Platform start(Plan plan, Progress progress) {
    StateLock lock = StateLock.take(plan.state());
    try {
      return new Platform(plan, progress, lock);
    } catch (RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  public Addresses addresses() {
    String local = "http://127.0.0.1:";
    return new Addresses(
        local + ports.of(Listener.DISPATCHER),
        local + ports.of(Listener.DASHBOARD),
        "127.0.0.1",
        ports.of(Listener.MQTT),
        ports.of(Listener.MQTT_TLS),
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
        simulatorsState().resolve("ca.pem").toString(),
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
    return Optional.ofNullable(programs.get(program))
        .orElseThrow(() -> new IllegalStateException(program.text() + " was never started"));
  }

  /// SIGKILL. Returns when the process is gone.
  public void kill9(Program program) {
    process(program).kill9();
  }

  /// Restarts a program on the same ports; stops it first if it still runs. Returns when it is
  /// ready.
  public void restart(Program program) {
    process(program).stop(PROGRAM_STOP_GRACE);
    start(program);
    AddressFile.write(plan.state(), addresses());
  }

  /// The processes that are not running now.
  public List<ChildProcess> dead() {
    var dead = new ArrayList<ChildProcess>();
    programs.values().stream().filter(process -> !process.isRunning()).forEach(dead::add);
    if (plan.services() != ServicesChoice.EXTERNAL) {
      for (Service service : Service.values()) {
        if (!services.isRunning(service)) {
          dead.add(services.process(service));
        }
      }
    }
    return dead;
  }

  /// Starts the processes that have died.
  public void restartDead() {
    for (Service service : Service.values()) {
      if (plan.services() != ServicesChoice.EXTERNAL && !services.isRunning(service)) {
        services.restart(service);
        AddressFile.write(plan.state(), addresses());
      }
    }
    for (Map.Entry<Program, ChildProcess> program : Map.copyOf(programs).entrySet()) {
      if (!program.getValue().isRunning()) {
        restart(program.getKey());
      }
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
    inParallel(
        springPrograms,
        program -> {
          ChildProcess process = programs.get(program);
          if (process != null) {
            process.stop(PROGRAM_STOP_GRACE);
          }
        });
    services.close();
    ChildProcess simulators = programs.get(Program.SIMULATORS);
    if (simulators != null) {
      simulators.stop(PROGRAM_STOP_GRACE);
    }
    lock.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// Makes the missing class caches, one after the other, while the platform keeps running. An
  /// interrupt ends it.
  public void train() {
    if (springPrograms.stream().allMatch(built::isTrained)) {
      return;
    }
    progress.tell(
        "while nobody else wants the processor: learning the programs' classes, once after each build");
    springPrograms.forEach(this::train);
    progress.tell("the classes are learnt; the next start takes half the time");
  }

  /// Makes the class cache of one program, unless it has one: from then on it starts in less than
  /// half the time.
  public void train(Program program) {
    if (built.isTrained(program)) {
      return;
    }
    var settings = new HashMap<>(programSettings().of(program));
    settings.put("SERVER_PORT", "0");
    settings.put("MANAGEMENT_SERVER_PORT", "0");
    settings.put("CM_MQTTPORT", "0");
    settings.put("CM_TLSPORT", "0");
    settings.put("CM_GATEWAYPORT", "0");
    built.train(program, settings, logs());
  }

  /// Starts another process of a program beside the platform's own, such as a further node. Returns
  /// when it is ready; the caller ends it before the platform.
  ///
  /// @param name of the process and its log
  /// @param settings that differ from the platform's own: its id and all its ports, `server.port`
  ///     among them
  public ChildProcess startAnother(Program program, String name, Map<String, String> settings) {
    var environment = new HashMap<>(programSettings().of(program));
    settings.forEach((property, value) -> environment.put(Program.variable(property), value));
    ChildProcess process =
        ChildProcess.start(
            new Command(
                name,
                built.commandOf(program),
                environment,
                plan.state(),
                logs().resolve(name + ".log")));
    awaitReady(process, Integer.parseInt(settings.getOrDefault("server.port", "0")), program);
    return process;
  }

  private static void endLeftovers(Path state) {
    // A killed supervisor leaves files behind, but no processes, unless the leash was killed with
    // it.
    AddressFile.delete(state);
    ChildRecord.below(state).stream()
        .filter(record -> !record.name().equals(StateLock.SUPERVISOR))
        .forEach(record -> record.end(Duration.ofSeconds(10)));
  }

  private LocalServices startServicesAndSimulators() {
    progress.tell("starting MySQL, Redis and the AMQP broker (" + plan.services().text() + ")");
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> simulators =
          executor.submit(() -> {
            start(Program.SIMULATORS);
            // Unpacks the programs while the services start: both take seconds after a build; later
            // there is nothing to unpack.
            springPrograms.forEach(built::commandOf);
          });
      LocalServices started = startServices();
      try {
        simulators.get();
      } catch (ExecutionException e) {
        started.close();
        stopSimulators();
        throw AllOrNone.unwrapped(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        started.close();
        stopSimulators();
        throw new ProcessFailed("the start was interrupted", e);
      }
      return started;
    }
  }

  private void stopSimulators() {
    ChildProcess simulators = programs.get(Program.SIMULATORS);
    if (simulators != null) {
      simulators.kill9();
    }
  }

  private LocalServices startServices() {
    Plan.External external = plan.external();
    if (external != null) {
      return LocalServices.external(external.mysql(), external.redis(), external.amqp());
    }
    try {
      return LocalServices.start(
          plan.services(),
          plan.state().resolve("services"),
          new ServicePorts(
              ports.of(Listener.MYSQL), ports.of(Listener.REDIS), ports.of(Listener.AMQP)));
    } catch (RuntimeException e) {
      stopSimulators();
      throw e;
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

  private void startPrograms() {
    progress.tell(
        "starting " + String.join(", ", springPrograms.stream().map(Program::text).toList()));
    AllOrNone.start(
        springPrograms,
        program -> {
          long from = System.nanoTime();
          try {
            start(program);
          } catch (ProcessFailed e) {
            // The other programs may take long to end, and the services after them.
            progress.tell("  " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            throw e;
          }
          progress.tell(
              "  %s is ready after %.1f s"
                  .formatted(program.text(), (System.nanoTime() - from) / 1e9));
        });
  }

  private void start(Program program) {
    try {
      STARTS.acquire();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProcessFailed("the start of " + program.text() + " was given up", e);
    }
    try {
      startNow(program);
    } finally {
      STARTS.release();
    }
  }

  private void startNow(Program program) {
    var command = new ArrayList<>(built.commandOf(program));
    Map<String, String> environment = Map.of();
    if (program == Program.SIMULATORS) {
      command.addAll(
          List.of(
              "--apns-port=" + ports.of(Listener.APNS),
              "--apns-sandbox-port=" + ports.of(Listener.APNS_SANDBOX),
              "--fcm-port=" + ports.of(Listener.FCM),
              "--hms-port=" + ports.of(Listener.HMS),
              "--webpush-port=" + ports.of(Listener.WEBPUSH),
              "--management-port=" + ports.of(Listener.SIMULATORS),
              "--state=" + simulatorsState()));
    } else {
      environment = programSettings().of(program);
    }
    ChildProcess process =
        ChildProcess.start(
            new Command(
                program.text(),
                command,
                environment,
                plan.state(),
                logs().resolve(program.text() + ".log")));
    programs.put(program, process);
    awaitReady(process, ports.of(program.management()), program);
  }

  private static void awaitReady(ChildProcess process, int managementPort, Program program) {
    try (var rest = new Rest("http://127.0.0.1:" + managementPort, "")) {
      Readiness.await(
          process, PROGRAM_START_DEADLINE, () -> rest.statusOf(program.readinessPath()) == 200);
    }
  }

  private ProgramSettings programSettings() {
    return new ProgramSettings(ports, secrets, services, simulatorsState(), tls, plan.settings());
  }

  private Rest simulatorsRest() {
    return new Rest("http://127.0.0.1:" + ports.of(Listener.SIMULATORS), "");
  }

  private Path simulatorsState() {
    return plan.state().resolve("simulators");
  }

  private Path logs() {
    return plan.state().resolve("logs");
  }

  private long pid(Program program) {
    return Optional.ofNullable(programs.get(program)).map(ChildProcess::pid).orElse(0L);
  }

  private long servicePid(Service service) {
    return plan.services() == ServicesChoice.EXTERNAL ? 0 : services.process(service).pid();
  }

  private static void inParallel(
      List<Program> programs, java.util.function.Consumer<Program> task) {
    var running = new EnumMap<Program, Future<?>>(Program.class);
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      programs.forEach(
          program -> running.put(program, executor.submit(() -> task.accept(program))));
    }
    for (Future<?> future : running.values()) {
      try {
        future.get();
      } catch (ExecutionException e) {
        throw AllOrNone.unwrapped(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ProcessFailed("interrupted", e);
      }
    }
  }
}
