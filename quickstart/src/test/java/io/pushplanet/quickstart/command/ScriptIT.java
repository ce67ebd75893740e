package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Runs the script itself, in a pretended repository and with pretended JDKs.
class ScriptIT {
  private static final Path SCRIPT = Path.of("..", "pushplanet").toAbsolutePath().normalize();
  private static final String ECHO_JAVA =
      "#!/bin/sh\necho \"java of $(dirname \"$0\") with $* in ${LC_ALL-${LANG-}}\"\n";

  @TempDir private Path folder;
  private Path root;

  @BeforeEach
  void layOutARepository() throws IOException {
    root = Files.createDirectory(folder.resolve("repository"));
    Files.copy(SCRIPT, root.resolve("pushplanet"));
    executable(root.resolve("pushplanet"));
    Files.createDirectories(root.resolve("quickstart/target/lib"));
  }

  @Test
  void without_a_jdk_25_it_says_so_and_exits_with_3() throws Exception {
    Path java17 = jdk("jdk-17", "17.0.2");

    Outcome outcome =
        run(Map.of("JAVA_HOME", java17.toString(), "PUSHPLANET_JDK_PLACES", ""), java17, "up");

    assertThat(outcome.code()).isEqualTo(3);
    assertThat(outcome.output()).contains("no JDK 25 found").contains("JAVA_HOME");
  }

  @Test
  void a_jdk_25_is_found_among_the_usual_places_behind_a_java_17_on_the_path() throws Exception {
    Path java17 = jdk("jdk-17", "17.0.2");
    Path java25 = jdk("places/jdk-25", "25.0.1");
    jdk("places/jdk-21", "21");

    Outcome outcome = run(Map.of("PUSHPLANET_JDK_PLACES", folder + "/places/*"), java17, "status");

    assertThat(outcome.code()).isZero();
    assertThat(outcome.output()).contains("java of " + java25.resolve("bin"));
  }

  @Test
  void java_home_is_preferred_when_it_is_a_jdk_25() throws Exception {
    Path chosen = jdk("chosen", "25.0.3");
    jdk("places/jdk-25", "25.0.1");

    Outcome outcome =
        run(
            Map.of("JAVA_HOME", chosen.toString(), "PUSHPLANET_JDK_PLACES", folder + "/places/*"),
            chosen,
            "status");

    assertThat(outcome.output())
        .contains("java of " + chosen.resolve("bin"))
        .contains("PushPlanet status");
  }

  @Test
  void a_job_without_a_home_gets_the_users() throws Exception {
    Path jdk = jdk("jdk", "25.0.1");
    Files.writeString(root.resolve("mvnw"), "#!/bin/sh\necho \"mvnw at home in $HOME\"\nexit 1\n");
    executable(root.resolve("mvnw"));

    Outcome outcome =
        run(
            Map.of(),
            jdk,
            Path.of("/usr/bin/env"),
            "-u",
            "HOME",
            root.resolve("pushplanet").toString(),
            "up");

    assertThat(outcome.output())
        .contains("mvnw at home in " + System.getProperty("user.home"))
        .doesNotContain("no JDK 25");
  }

  @Test
  void a_jre_without_a_compiler_is_no_jdk() throws Exception {
    Path jre = jdk("jre", "25.0.1");
    Files.delete(jre.resolve("bin/javac"));

    assertThat(run(Map.of("PUSHPLANET_JDK_PLACES", ""), jre, "status").code()).isEqualTo(3);
  }

  @Test
  void a_failed_build_exits_with_8() throws Exception {
    Path jdk = jdk("jdk", "25.0.1");
    Files.writeString(root.resolve("mvnw"), "#!/bin/sh\necho \"mvnw $* on $JAVA_HOME\"\nexit 1\n");
    executable(root.resolve("mvnw"));

    Outcome outcome = run(Map.of("PUSHPLANET_JDK_PLACES", ""), jdk, "up");

    assertThat(outcome.code()).isEqualTo(8);
    assertThat(outcome.output())
        .contains("dispatcher-api is not built")
        .contains("on " + jdk)
        .contains("the build failed");
  }

  @Test
  void a_second_build_waits_for_the_first_and_builds_nothing() throws Exception {
    Path jdk = jdk("jdk", "25.0.1");
    Files.writeString(
        root.resolve("mvnw"),
        """
        #!/bin/sh
        echo "mvnw runs"
        read -r told
        for module in dispatcher-api gateway-worker connection-manager dashboard quickstart perf-tests/simulators perf-tests/load; do
          mkdir -p "$module/target" && touch "$module/target/built"
        done
        """);
    executable(root.resolve("mvnw"));
    Process first = start(Map.of("PUSHPLANET_JDK_PLACES", ""), jdk, "up");
    BufferedReader ofFirst = first.inputReader(StandardCharsets.UTF_8);
    assertThat(ofFirst.readLine()).contains("dispatcher-api is not built");
    assertThat(ofFirst.readLine()).isEqualTo("mvnw runs");

    Process second = start(Map.of("PUSHPLANET_JDK_PLACES", ""), jdk, "up");
    second.getOutputStream().close();
    BufferedReader ofSecond = second.inputReader(StandardCharsets.UTF_8);
    assertThat(ofSecond.readLine()).contains("another ./pushplanet builds here");
    first.getOutputStream().close();

    assertThat(ofSecond.readAllAsString()).startsWith("java of " + jdk).doesNotContain("mvnw");
    assertThat(ofFirst.readAllAsString()).contains("built in").contains("java of " + jdk);
    assertThat(ended(first) + ended(second)).isZero();
  }

  @Test
  void a_tree_that_cannot_be_written_exits_with_8_and_says_where() throws Exception {
    Path lock = Files.createDirectories(root.resolve("target").resolve("build.lock"));

    Outcome outcome = run(Map.of("PUSHPLANET_JDK_PLACES", ""), jdk("jdk", "25.0.1"), "up");

    assertThat(outcome.code()).isEqualTo(8);
    assertThat(outcome.output())
        .contains("cannot write " + lock.toRealPath())
        .contains("who owns")
        .doesNotContain("building");
  }

  @Test
  void help_needs_neither_a_jdk_nor_a_build() throws Exception {
    Path java17 = jdk("jdk-17", "17.0.2");
    Files.delete(root.resolve("quickstart/target/lib"));

    for (String asked : List.of("", "help", "--help", "up --detach -h")) {
      String[] words = asked.isEmpty() ? new String[0] : asked.split(" ");
      Outcome outcome = run(Map.of("PUSHPLANET_JDK_PLACES", ""), java17, words);

      assertThat(outcome.code()).isZero();
      assertThat(outcome.output())
          .startsWith("Push Planet on one machine.\n")
          .contains("  --mysql=jdbc:mysql://…")
          .contains("8 the build failed")
          .doesNotContain("building");
    }
  }

  @Test
  void an_unknown_command_exits_with_2_before_anything_is_built() throws Exception {
    Outcome outcome = run(Map.of(), jdk("jdk", "25.0.1"), "upp");

    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.output()).contains("'upp'").contains("help").doesNotContain("building");
  }

  @Test
  void it_finds_its_repository_through_a_link() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("pushplanet"), root.resolve("pushplanet"));

    Outcome outcome =
        run(Map.of("PUSHPLANET_JDK_PLACES", ""), jdk("jdk", "25.0.1"), link, "status");

    assertThat(outcome.output()).contains("-Dpushplanet.root=" + root.toRealPath());
  }

  @Test
  void java_gets_a_locale_in_which_it_can_open_every_path() throws Exception {
    Path jdk = jdk("jdk", "25.0.1");

    assertThat(run(Map.of(), jdk, "status").output()).contains(" in C.UTF-8");
    assertThat(run(Map.of("LANG", "C"), jdk, "status").output()).contains(" in C.UTF-8");
    assertThat(run(Map.of("LANG", "de_DE.utf8"), jdk, "status").output())
        .contains(" in de_DE.utf8");
  }

  private record Outcome(int code, String output) {}

  private Outcome run(Map<String, String> environment, Path javaOnPath, String... words)
      throws Exception {
    return run(environment, javaOnPath, root.resolve("pushplanet"), words);
  }

  private Outcome run(
      Map<String, String> environment, Path javaOnPath, Path script, String... words)
      throws Exception {
    Process process = start(environment, javaOnPath, script, words);
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Outcome(ended(process), output);
  }

  private Process start(Map<String, String> environment, Path javaOnPath, String... words)
      throws IOException {
    return start(environment, javaOnPath, root.resolve("pushplanet"), words);
  }

  private Process start(
      Map<String, String> environment, Path javaOnPath, Path script, String... words)
      throws IOException {
    var command = new ArrayList<>(List.of(script.toString()));
    command.addAll(List.of(words));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().clear();
    var all =
        new HashMap<>(
            Map.of(
                "PATH", javaOnPath.resolve("bin") + ":/usr/bin:/bin", "HOME", folder.toString()));
    all.putAll(environment);
    builder.environment().putAll(all);
    return builder.start();
  }

  private static int ended(Process process) throws InterruptedException {
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }

  private Path jdk(String name, String version) throws IOException {
    Path home = folder.resolve(name);
    Files.createDirectories(home.resolve("bin"));
    Files.writeString(
        home.resolve("release"), "IMPLEMENTOR=\"Paper\"\nJAVA_VERSION=\"" + version + "\"\n");
    Files.writeString(home.resolve("bin/java"), ECHO_JAVA);
    Files.writeString(home.resolve("bin/javac"), ECHO_JAVA);
    executable(home.resolve("bin/java"));
    executable(home.resolve("bin/javac"));
    return home;
  }

  private static void executable(Path file) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
