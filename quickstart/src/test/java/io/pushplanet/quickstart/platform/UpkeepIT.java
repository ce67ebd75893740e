package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.process.Readiness;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// With processes that only sleep, and that are ready when the test says so. A look that waited for
/// one would never return.
@Timeout(60)
class UpkeepIT {
  @TempDir private Path folder;

  private final List<String> told = new ArrayList<>();
  private Sleeper redis;
  private Sleeper worker;

  @BeforeEach
  void start() {
    redis = new Sleeper("Redis");
    worker = new Sleeper("gateway-worker");
  }

  @AfterEach
  void end() {
    redis.process.kill9();
    worker.process.kill9();
  }

  @Test
  void nothing_is_told_and_started_while_all_are_up() {
    Upkeep upkeep = upkeep(OnDeath.RESTART);

    assertThat(upkeep.look()).isFalse();

    assertThat(told).isEmpty();
  }

  @Test
  void a_server_that_dies_while_a_program_waits_for_it_is_started_again() {
    Upkeep upkeep = upkeep(OnDeath.RESTART);
    worker.ready = () -> redis.starts == 1;
    worker.process.kill9();
    assertThat(upkeep.look()).isTrue();
    redis.process.kill9();

    assertThat(upkeep.look()).isTrue();

    assertThat(redis.process.isRunning()).isTrue();
    assertThat(told)
        .contains("starting gateway-worker again", "starting Redis again")
        .last()
        .asString()
        .matches("waiting for Redis \\(\\d+ s left\\), gateway-worker \\(\\d+ s left\\)");
    assertThat(upkeep.look()).isFalse();
    assertThat(told)
        .anyMatch(line -> line.contains("Redis is ready after"))
        .anyMatch(line -> line.contains("gateway-worker is ready after"));
    assertThat(worker.starts).isOne();
  }

  @Test
  void a_program_that_dies_while_another_starts_is_started_again() {
    var dispatcher = new Sleeper("dispatcher-api");
    try {
      var upkeep =
          new Upkeep(
              OnDeath.RESTART,
              List.of(redis.kept()),
              List.of(worker.kept(), dispatcher.kept()),
              told::add);
      worker.ready = () -> false;
      worker.process.kill9();
      upkeep.look();
      dispatcher.process.kill9();

      upkeep.look();

      assertThat(dispatcher.process.isRunning()).isTrue();
    } finally {
      dispatcher.process.kill9();
    }
  }

  @Test
  void a_program_starts_when_all_servers_are_ready() {
    Upkeep upkeep = upkeep(OnDeath.RESTART);
    redis.ready = () -> false;
    redis.process.kill9();
    worker.process.kill9();

    upkeep.look();
    upkeep.look();

    assertThat(redis.starts).isOne();
    assertThat(worker.starts).isZero();
    assertThat(told).last().asString().contains("gateway-worker (starts when all servers are");
    redis.ready = () -> true;
    upkeep.look();
    assertThat(worker.starts).isOne();
  }

  @Test
  void three_starts_that_fail_one_after_the_other_end_everything() {
    Upkeep upkeep = upkeep(OnDeath.RESTART);
    worker.ready = () -> false;
    dieAndLook(upkeep);
    dieAndLook(upkeep);
    dieAndLook(upkeep);

    assertThatExceptionOfType(ProcessFailed.class)
        .isThrownBy(() -> dieAndLook(upkeep))
        .withMessage("gateway-worker did not become ready in 3 starts");

    assertThat(worker.starts).isEqualTo(3);
    assertThat(told)
        .anyMatch(line ->
            line.startsWith("start 3 of 3: gateway-worker ended with exit code 137 before it was"));
  }

  @Test
  void a_start_that_succeeds_makes_up_for_those_that_failed() {
    Upkeep upkeep = upkeep(OnDeath.RESTART);
    for (int time = 0; time < 2; time++) {
      worker.ready = () -> false;
      dieAndLook(upkeep);
      dieAndLook(upkeep);
      dieAndLook(upkeep);
      worker.ready = () -> true;
      upkeep.look();
    }

    assertThat(worker.starts).isEqualTo(6);
    assertThat(worker.process.isRunning()).isTrue();
  }

  @Test
  void a_program_that_takes_too_long_to_start_is_killed_and_started_again() {
    Upkeep upkeep = upkeep(OnDeath.RESTART);
    worker.ready = () -> false;
    worker.atMost = Duration.ZERO;
    dieAndLook(upkeep);
    ChildProcess slow = worker.process;

    assertThat(upkeep.look()).isTrue();

    assertThat(slow.isRunning()).isFalse();
    assertThat(worker.process.isRunning()).isTrue();
    assertThat(told)
        .anyMatch(line -> line.startsWith("start 1 of 3: gateway-worker was not ready after 0 s"));
  }

  @Test
  void a_death_ends_everything_unless_told_otherwise() {
    Upkeep upkeep = upkeep(OnDeath.STOP);
    redis.process.kill9();
    worker.process.kill9();

    assertThatExceptionOfType(ProcessFailed.class)
        .isThrownBy(upkeep::look)
        .withMessage("Redis died with exit code 137");

    assertThat(redis.starts + worker.starts).isZero();
    assertThat(told)
        .anyMatch(line -> line.startsWith("Redis (process "))
        .anyMatch(line -> line.startsWith("gateway-worker (process "));
  }

  @Test
  void only_servers_are_looked_at_while_the_programs_start_for_the_first_time() {
    Upkeep upkeep = upkeep(OnDeath.RESTART);
    redis.process.kill9();
    worker.process.kill9();

    upkeep.lookAtServers();
    upkeep.lookAtServers();

    assertThat(redis.process.isRunning()).isTrue();
    assertThat(worker.starts).isZero();
  }

  private void dieAndLook(Upkeep upkeep) {
    worker.process.kill9();
    upkeep.look();
  }

  private Upkeep upkeep(OnDeath onDeath) {
    return new Upkeep(onDeath, List.of(redis.kept()), List.of(worker.kept()), told::add);
  }

  private final class Sleeper {
    private final String name;
    private BooleanSupplier ready = () -> true;
    private Duration atMost = Duration.ofMinutes(5);
    private int starts;
    private ChildProcess process;

    Sleeper(String name) {
      this.name = name;
      this.process = ChildProcess.start(command(name));
    }

    KeptProcess kept() {
      return new KeptProcess(() -> process, this::startAgain, told::add);
    }

    private Readiness startAgain() {
      starts++;
      process = ChildProcess.start(command(name));
      return new Readiness(process, atMost, () -> ready.getAsBoolean());
    }
  }

  private Command command(String name) {
    return new Command(
        name, List.of("/bin/sleep", "300"), Map.of(), folder, folder.resolve(name + ".log"));
  }
}
