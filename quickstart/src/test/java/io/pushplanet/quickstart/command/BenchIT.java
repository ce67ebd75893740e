package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Runs the command as a process, in a repository whose benchmark prints its arguments and stays.
class BenchIT {
  @TempDir private Path root;

  @BeforeEach
  void layOutARepository() throws IOException {
    Path target = Files.createDirectories(root.resolve("perf-tests/load/target/lib")).getParent();
    Path source =
        Files.writeString(
            root.resolve("Bench.java"),
            """
            package io.pushplanet.load;
            public class Bench {
              public static void main(String[] arguments) throws Exception {
                System.out.println(ProcessHandle.current().pid());
                System.out.println(String.join(" ", arguments));
                Thread.currentThread().join();
              }
            }
            """);
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-d", target + "/classes", source.toString()))
        .isZero();
  }

  @Test
  void a_benchmark_gets_its_options_and_ends_with_a_killed_command() throws Exception {
    Process command = bench("fcm", "--state", root + "/elsewhere", "--seconds", "5", "--rate=7");
    BufferedReader output = command.inputReader();
    ProcessHandle benchmark =
        ProcessHandle.of(Long.parseLong(Objects.requireNonNull(output.readLine()))).orElseThrow();

    try {
      assertThat(Objects.requireNonNull(output.readLine()).split(" "))
          .containsExactlyInAnyOrder(
              "fcm",
              "--addresses=" + root + "/elsewhere/quickstart.json",
              "--seconds=5",
              "--rate=7");
      Eventually.within(
          Duration.ofSeconds(60),
          () -> assertThat(stacks(command)).contains("ProcessImpl.waitFor"));
      command.destroyForcibly();

      assertThat(benchmark.onExit().get(60, TimeUnit.SECONDS)).isNotNull();
    } finally {
      command.destroyForcibly();
      benchmark.destroyForcibly();
    }
  }

  private static String stacks(Process process) throws IOException {
    Process jstack = new ProcessBuilder(jdk("jstack"), Long.toString(process.pid())).start();
    return new String(jstack.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private static String jdk(String program) {
    return Path.of(System.getProperty("java.home"), "bin", program).toString();
  }

  private Process bench(String... arguments) throws IOException {
    var builder =
        new ProcessBuilder(
            jdk("java"),
            "-Dpushplanet.root=" + root,
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            PushPlanet.class.getName(),
            "bench");
    builder.command().addAll(List.of(arguments));
    return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }
}
