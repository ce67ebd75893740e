package io.pushplanet.quickstart.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class LeashIT {
  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir private Path folder;

  @Test
  void a_child_ends_when_the_jvm_that_started_it_is_killed_with_9() throws Exception {
    Process parent =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Parent.class.getName(),
                folder.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader output = parent.inputReader();
    ProcessHandle child =
        ProcessHandle.of(Long.parseLong(Objects.requireNonNull(output.readLine()))).orElseThrow();
    assertThat(child.isAlive()).isTrue();

    parent.destroyForcibly();

    assertThat(child.onExit().get(60, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void a_record_names_the_process_until_it_has_ended() {
    ChildProcess child = sleeper(folder);

    List<ChildRecord> records = ChildRecord.below(folder);
    assertThat(records)
        .singleElement()
        .satisfies(record -> assertThat(record.process()).isPresent());
    assertThat(records.getFirst().end(Duration.ofSeconds(60))).isTrue();

    assertThat(child.waitFor(Duration.ofSeconds(60))).isTrue();
    assertThat(ChildRecord.below(folder)).isEmpty();
  }

  @Test
  void a_stop_says_that_it_waits_and_whether_the_child_ended_by_itself() {
    var told = new AtomicInteger();

    assertThat(sleeper(folder).stop(LONG, LONG, told::incrementAndGet)).isTrue();
    assertThat(told).hasValue(0);

    ChildProcess stubborn = deafToSigterm();
    assertThat(stubborn.stop(Duration.ofMillis(50), Duration.ZERO, told::incrementAndGet))
        .isFalse();
    assertThat(told).hasValue(1);
    assertThat(stubborn.isRunning()).isFalse();
  }

  private ChildProcess deafToSigterm() {
    ChildProcess child =
        ChildProcess.start(
            new Command(
                "stubborn",
                List.of("/bin/sh", "-c", "trap '' TERM; echo deaf; sleep 300"),
                Map.of(),
                folder,
                folder.resolve("stubborn.log")));
    Eventually.within(LONG, () -> assertThat(child.lastLogLines(1)).isEqualTo("deaf"));
    return child;
  }

  @Test
  void the_helpers_that_a_child_leaves_behind_end_with_it() throws Exception {
    ChildProcess child =
        ChildProcess.start(
            new Command(
                "boss",
                List.of("/bin/sh", "-c", "sleep 300 & echo $!; wait"),
                Map.of(),
                folder,
                folder.resolve("boss.log")));
    Eventually.within(LONG, () -> assertThat(child.lastLogLines(1)).isNotEmpty());
    ProcessHandle helper = ProcessHandle.of(Long.parseLong(child.lastLogLines(1))).orElseThrow();
    child.holdDescendants();

    child.stop(LONG);

    assertThat(helper.onExit().get(60, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void the_end_of_a_log_is_read_that_does_not_fit_into_memory() throws Exception {
    try (var log = new RandomAccessFile(folder.resolve("talker.log").toFile(), "rw")) {
      log.setLength(3L << 30);
    }
    ChildProcess child =
        ChildProcess.start(
            new Command(
                "talker",
                List.of("/bin/sh", "-c", "echo; echo the last words"),
                Map.of(),
                folder,
                folder.resolve("talker.log")));

    assertThat(child.waitFor(LONG)).isTrue();
    assertThat(child.lastLogLines(1)).isEqualTo("the last words");
    child.stop(Duration.ZERO);
  }

  @Test
  void a_record_never_names_another_process_with_the_same_id() throws Exception {
    ChildProcess child = sleeper(folder);
    Path file = ChildRecord.below(folder).getFirst().file();
    Files.writeString(file, child.pid() + " 12345\n");

    assertThat(ChildRecord.below(folder).getFirst().process()).isEmpty();
    assertThat(ChildRecord.below(folder).getFirst().end(Duration.ZERO)).isFalse();

    assertThat(child.isRunning()).isTrue();
    child.kill9();
  }

  @Test
  void records_are_found_while_a_server_makes_and_deletes_its_own_files() throws Exception {
    Path data = Files.createDirectories(folder.resolve("services/data"));
    ChildProcess child = sleeper(folder);
    var enough = new AtomicBoolean();
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> server =
          executor.submit(() -> {
            while (!enough.get()) {
              Files.createDirectories(data.resolve("temporary/table"));
              Files.delete(data.resolve("temporary/table"));
              Files.delete(data.resolve("temporary"));
            }
            return null;
          });
      try {
        for (int time = 0; time < 2_000; time++) {
          assertThat(ChildRecord.below(folder)).hasSize(1);
        }
      } finally {
        enough.set(true);
      }
      server.get();
    }
    child.kill9();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void only_measurements_have_children_in_their_own_session() throws Exception {
    ChildProcess away = sleeper(folder);
    ChildProcess near = ChildProcess.startInOurSession(sleep(folder));

    // Started by `setsid`, which has to run first.
    Eventually.within(
        Duration.ofSeconds(60),
        () -> assertThat(sessionOf(away.pid())).isEqualTo(Long.toString(away.pid())));
    assertThat(sessionOf(near.pid())).isEqualTo(sessionOf(ProcessHandle.current().pid()));
    away.kill9();
    near.kill9();
  }

  private static String sessionOf(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    return stat.substring(stat.lastIndexOf(')') + 2).split(" ")[6 - 3];
  }

  private static ChildProcess sleeper(Path folder) {
    return ChildProcess.start(sleep(folder));
  }

  private static Command sleep(Path folder) {
    return new Command(
        "sleeper", List.of("/bin/sleep", "300"), Map.of(), folder, folder.resolve("sleeper.log"));
  }

  /// Starts a child and waits for its own end.
  static final class Parent {
    private Parent() {}

    public static void main(String[] arguments) throws Exception {
      System.out.println(sleeper(Path.of(arguments[0])).pid());
      System.out.flush();
      Thread.currentThread().join();
    }
  }
}
