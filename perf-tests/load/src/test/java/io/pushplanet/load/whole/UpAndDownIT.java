package io.pushplanet.load.whole;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.quickstart.platform.AddressFile;
import io.pushplanet.quickstart.platform.OnDeath;
import io.pushplanet.quickstart.platform.Plan;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Ports;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.platform.PublicAddress;
import io.pushplanet.quickstart.process.ChildRecord;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/// Runs `./pushplanet` as a process of its own, as in a terminal. Most programs are left out: these
/// tests are about the end.
@Execution(ExecutionMode.CONCURRENT)
class UpAndDownIT {
  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
  private static final Duration LONGEST = Duration.ofMinutes(4);

  private static final String SERVICES =
      Objects.requireNonNullElse(System.getenv("PUSHPLANET_SERVICES"), "auto");

  @TempDir private Path state;

  @Test
  void ctrl_c_stops_everything_in_good_order() throws Exception {
    Process up =
        command("up", "--ports=free", "--without=dispatcher-api,connection-manager,dashboard");
    try {
      awaitLine(up, "Push Planet is up.");
      List<ProcessHandle> children = up.descendants().toList();
      assertThat(children).hasSizeGreaterThanOrEqualTo(5);
      assertThat(AddressFile.read(state)).isPresent();

      new ProcessBuilder("kill", "-INT", Long.toString(up.pid())).start();

      assertThat(up.waitFor(LONGEST.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(up.exitValue()).isEqualTo(130);
      assertThat(state.resolve("logs/gateway-worker.log"))
          .content()
          .contains("Graceful shutdown complete");
      nothingIsLeft(children);
    } finally {
      up.destroyForcibly();
    }
  }

  @Test
  void ctrl_c_stops_a_start_in_the_background() throws Exception {
    Process up =
        command(
            "up",
            "--detach",
            "--ports=free",
            "--without=dispatcher-api,connection-manager,dashboard");
    try {
      Eventually.within(LONGEST, () -> assertThat(recorded("Redis").isAlive()).isTrue());
      ProcessHandle supervisor = supervisor();

      new ProcessBuilder("kill", "-INT", Long.toString(up.pid())).start();

      assertThat(outputOf(up, 130))
          .contains("interrupted, so what has started is stopped")
          .doesNotContain("Push Planet is up.");
      assertThat(supervisor.isAlive()).isFalse();
      assertThat(ChildRecord.below(state)).isEmpty();
    } finally {
      outputOf(command("down"), 0);
    }
  }

  @Test
  void down_stops_a_platform_in_the_background_in_good_order() throws Exception {
    Process up =
        command(
            "up",
            "--detach",
            "--ports=free",
            "--without=dispatcher-api,gateway-worker,connection-manager,dashboard");
    try {
      assertThat(outputOf(up, 0)).contains("Push Planet is up.");
      ProcessHandle supervisor = supervisor();
      var processes = new ArrayList<>(supervisor.descendants().toList());
      assertThat(processes).hasSizeGreaterThanOrEqualTo(4);
      processes.add(supervisor);
      assertThat(outputOf(command("up", "--ports=free"), 6)).contains("is up already");

      String told = outputOf(command("down"), 0);

      assertThat(told).contains("everything is stopped").doesNotContain("left behind");
      nothingIsLeft(processes);
      assertThat(outputOf(command("status"), 7)).contains("nothing is up");
    } finally {
      outputOf(command("down"), 0);
    }
  }

  @Test
  void restarts_are_in_the_address_file_and_deaths_in_the_status() throws Exception {
    String without = "--without=dispatcher-api,gateway-worker,connection-manager,dashboard";
    try {
      outputOf(command("up", "--detach", "--ports=free", "--on-death=restart", without), 0);
      long former = redis();
      ProcessHandle.of(former).orElseThrow().destroyForcibly();
      Eventually.within(LONGEST, () -> assertThat(redis()).isNotEqualTo(former));
      assertThat(ProcessHandle.of(redis())).isPresent();
      outputOf(command("down"), 0);

      outputOf(command("up", "--detach", "--ports=free", without), 0);
      ProcessHandle supervisor = supervisor();
      ProcessHandle.of(redis()).orElseThrow().destroyForcibly();
      Eventually.within(LONGEST, () -> assertThat(supervisor.isAlive()).isFalse());

      assertThat(outputOf(command("status"), 7))
          .contains("nothing is up")
          .containsPattern("Redis died with exit code \\d+, so everything is stopped");
    } finally {
      outputOf(command("down"), 0);
    }
  }

  @Test
  void a_server_that_dies_while_a_program_starts_again_is_started_again() throws Exception {
    try {
      outputOf(
          command(
              "up",
              "--detach",
              "--ports=free",
              "--on-death=restart",
              "--no-train",
              "--without=dispatcher-api,connection-manager,dashboard"),
          0);
      ProcessHandle formerRedis = recorded("Redis");
      ProcessHandle formerWorker = recorded("gateway-worker");
      formerWorker.destroyForcibly();
      Eventually.within(
          LONGEST, () -> assertThat(recorded("gateway-worker")).isNotEqualTo(formerWorker));
      formerRedis.destroyForcibly();

      Eventually.within(LONGEST, () -> assertThat(recorded("Redis")).isNotEqualTo(formerRedis));
      Eventually.within(
          LONGEST, () -> assertThat(outputOf(command("status"), 0)).contains("gateway-worker"));
      assertThat(state.resolve("supervisor.log"))
          .content()
          .containsPattern("waiting for Redis \\(\\d+ s left\\), gateway-worker \\(\\d+ s left\\)");
    } finally {
      outputOf(command("down"), 0);
    }
  }

  @Test
  void a_server_that_dies_while_a_program_starts_for_the_first_time_is_started_again() {
    var told = new CopyOnWriteArrayList<String>();

    try (Platform platform =
        Platform.start(
            plan(Set.of(Program.DISPATCHER, Program.CONNECTION_MANAGER, Program.DASHBOARD)),
            OnDeath.RESTART,
            line -> {
              told.add(line);
              if (line.equals("starting gateway-worker")) {
                recorded("Redis").destroyForcibly();
              }
            })) {
      assertThat(told).contains("starting Redis again");
      assertThat(platform.process(Program.WORKER).isRunning()).isTrue();
    }
  }

  private ProcessHandle recorded(String name) {
    return ChildRecord.below(state).stream()
        .filter(record -> record.name().equals(name))
        .flatMap(record -> record.process().stream())
        .findFirst()
        .orElseThrow();
  }

  private long redis() {
    return AddressFile.read(state).orElseThrow().pids().redis();
  }

  @Test
  void an_interrupted_thread_stops_a_platform_in_good_order() throws Exception {
    Platform platform =
        Platform.start(
            plan(
                Set.of(
                    Program.DISPATCHER,
                    Program.WORKER,
                    Program.CONNECTION_MANAGER,
                    Program.DASHBOARD)),
            System.out::println);
    List<ProcessHandle> children =
        ChildRecord.below(state).stream()
            .filter(record -> record.pid() != ProcessHandle.current().pid())
            .flatMap(record -> record.process().stream())
            .toList();
    assertThat(children).hasSizeGreaterThanOrEqualTo(4);

    Thread.currentThread().interrupt();
    platform.close();

    assertThat(Thread.interrupted()).isTrue();
    nothingIsLeft(children);
  }

  private Plan plan(Set<Program> without) {
    return new Plan(
        ROOT,
        state,
        ServicesChoice.parse(SERVICES),
        null,
        PublicAddress.THIS_MACHINE,
        Ports.free(Map.of()),
        without,
        Map.of());
  }

  private void nothingIsLeft(List<ProcessHandle> processes) throws IOException {
    assertThat(AddressFile.read(state)).isEmpty();
    assertThat(ChildRecord.below(state)).isEmpty();
    Eventually.within(LONGEST, () -> assertThat(processes).noneMatch(ProcessHandle::isAlive));
    assertThat(log("mysql", "mariadb.log")).contains("Shutdown complete");
    assertThat(log("redis", "redis.log")).contains("Redis is now ready to exit");
    if (Files.exists(state.resolve("services/installed-amqp"))) {
      assertThat(log("amqp", "rabbitmq.log")).containsPattern("msg_store_persistent' is stopped");
    } else {
      // Qpid's store holds this file while it is open.
      try (var files = Files.walk(state.resolve("services/embedded-amqp"))) {
        assertThat(files).noneMatch(file -> file.endsWith("db.lck"));
      }
    }
  }

  private String log(String service, String name) throws IOException {
    Path installed = state.resolve("services/installed-" + service).resolve(name);
    return Files.readString(
        Files.exists(installed)
            ? installed
            : state.resolve("services/embedded-" + service).resolve(name));
  }

  private ProcessHandle supervisor() {
    return recorded("supervisor");
  }

  private Process command(String... words) throws IOException {
    Path built = ROOT.resolve("quickstart/target");
    var command = new ArrayList<String>();
    if (Files.isExecutable(Path.of("/usr/bin/setsid"))) {
      // A script that starts this JVM in the background makes it, and so its children, ignore
      // ctrl-C.
      command.addAll(List.of("/usr/bin/env", "--default-signal=INT"));
    }
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Dpushplanet.root=" + ROOT,
            "-cp",
            built.resolve("classes") + ":" + built.resolve("lib") + "/*",
            "io.pushplanet.quickstart.command.PushPlanet"));
    command.addAll(List.of(words));
    if (words[0].equals("up")) {
      command.add("--services=" + SERVICES);
    }
    command.add("--state=" + state);
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private static void awaitLine(Process process, String expected) throws IOException {
    var told = new StringBuilder();
    var output = process.inputReader(StandardCharsets.UTF_8);
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      told.append(line).append('\n');
      if (line.equals(expected)) {
        return;
      }
    }
    throw new AssertionError("it never said " + expected + " but:\n" + told);
  }

  private static String outputOf(Process process, int exitCode) throws Exception {
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(LONGEST.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(output).isEqualTo(exitCode);
    return output;
  }
}
