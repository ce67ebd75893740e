package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.process.Readiness;
import java.io.IOException;
import java.nio.file.Path;
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

/// One platform's programs as processes. Thread-safe.
final class ProgramProcesses {
  /// A stop that takes longer is explained.
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(3);

  private static final Duration START_DEADLINE = Duration.ofSeconds(120);

  /// A frozen program must not hold up those who look at other processes, too.
  private static final Duration ANSWER_DEADLINE = Duration.ofSeconds(10);

  /// A start takes some 15 s of one processor's time. More starts at once, of this platform or of
  /// another one in this process, would only make each other miss the deadline.
  private static final Semaphore STARTS = new Semaphore(Runtime.getRuntime().availableProcessors());

  private final BuiltPrograms built;
  private final Ports ports;
  private final Path state;
  private final Duration stopGrace;
  private final Progress progress;
  private final Map<Program, ChildProcess> started = new ConcurrentHashMap<>();

  ProgramProcesses(
      BuiltPrograms built, Ports ports, Path state, Duration stopGrace, Progress progress) {
    this.built = built;
    this.ports = ports;
    this.state = state;
    this.stopGrace = stopGrace;
    this.progress = progress;
  }

  /// The process of a program, running or ended; empty when it was never started.
  Optional<ChildProcess> of(Program program) {
    return Optional.ofNullable(started.get(program));
  }

  Path simulatorsState() {
    return state.resolve("simulators");
  }

  /// Unpacks a program, unless that was done before.
  void unpack(Program program) {
    built.commandOf(program);
  }

  /// Starts a program, and returns when it is ready.
  ///
  /// @param environment the program's settings
  /// @throws ProcessFailed when the program does not become ready
  void start(Program program, Map<String, String> environment) {
    try {
      STARTS.acquire();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProcessFailed("the start of " + program.text() + " was given up", e);
    }
    try {
      launch(program, environment).await();
    } finally {
      STARTS.release();
    }
  }

  /// Starts a program that has ended, without waiting until it is ready.
  ///
  /// @param environment the program's settings
  Readiness startAgain(Program program, Map<String, String> environment) {
    stop(program);
    return launch(program, environment);
  }

  private Readiness launch(Program program, Map<String, String> environment) {
    var command = new ArrayList<>(built.commandOf(program));
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
    }
    ChildProcess process = process(program.text(), command, environment);
    started.put(program, process);
    return readiness(process, ports.of(program.management()), program);
  }

  /// Starts another process of a program, which the caller ends.
  ChildProcess startAnother(
      Program program, String name, Map<String, String> environment, int managementPort) {
    ChildProcess process = process(name, built.commandOf(program), environment);
    return readiness(process, managementPort, program).await();
  }

  private ChildProcess process(String name, List<String> command, Map<String, String> environment) {
    return ChildProcess.start(
        new Command(name, command, environment, state, logs().resolve(name + ".log")));
  }

  private static Readiness readiness(ChildProcess process, int managementPort, Program program) {
    var rest = new Rest("http://127.0.0.1:" + managementPort, "");
    return new Readiness(process, START_DEADLINE, () -> answers(rest, program));
  }

  /// Closes the client of a ready program. That of another one ends with the last reference to it.
  private static boolean answers(Rest rest, Program program) throws IOException {
    if (rest.statusOf(program.readinessPath(), ANSWER_DEADLINE) != 200) {
      return false;
    }
    rest.close();
    return true;
  }

  /// Stops a program in order; does nothing when it was never started.
  void stop(Program program) {
    of(program).ifPresent(process -> stop(program, process));
  }

  private void stop(Program program, ChildProcess process) {
    boolean ended =
        process.stop(
            stopGrace,
            STOP_PATIENCE,
            () ->
                progress.tell(
                    "  waiting for %s, which may take %d s to stop: it %s"
                        .formatted(program.text(), stopGrace.toSeconds(), program.lastDuty())));
    if (!ended) {
      progress.tell(
          "  %s had not stopped after %d s, and was killed; its log is %s"
              .formatted(program.text(), stopGrace.toSeconds(), process.command().log()));
    }
  }

  /// Stops programs side by side.
  void stop(List<Program> programs) {
    var stopping = new EnumMap<Program, Future<?>>(Program.class);
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      programs.forEach(program -> stopping.put(program, executor.submit(() -> stop(program))));
    }
    for (Future<?> future : stopping.values()) {
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

  boolean isTrained(Program program) {
    return built.isTrained(program);
  }

  /// Makes the class cache of a program, on ports of its own.
  void train(Program program, Map<String, String> environment) {
    built.train(program, onFreePorts(environment), logs());
  }

  static Map<String, String> onFreePorts(Map<String, String> environment) {
    var settings = new HashMap<>(environment);
    settings.put("SERVER_PORT", "0");
    settings.put("MANAGEMENT_SERVER_PORT", "0");
    settings.put("CM_MQTTPORT", "0");
    settings.put("CM_TLSPORT", "0");
    settings.put("CM_GATEWAYPORT", "0");
    // A node has no such listeners unless it is told.
    settings.replace("CM_WSPORT", "0");
    settings.replace("CM_WSSPORT", "0");
    return settings;
  }

  private Path logs() {
    return state.resolve("logs");
  }
}
