package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.quickstart.process.ChildRecord;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.services.DirectoryTree;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// In a repository whose dashboard and connection manager are jars that can unpack themselves.
class BuiltProgramsIT {
  @TempDir private Path root;
  private Path target;

  @BeforeEach
  void layOutARepository() throws IOException {
    target = layOut("dashboard");
    layOut("connection-manager");
  }

  private Path layOut(String module) throws IOException {
    Path jars = Files.createDirectories(root.resolve(module, "target"));
    var manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, Extraction.class.getName());
    String name = Extraction.class.getName().replace('.', '/') + ".class";
    try (InputStream content = Extraction.class.getClassLoader().getResourceAsStream(name);
        var jar =
            new JarOutputStream(
                Files.newOutputStream(jars.resolve(module + "-1-boot.jar")), manifest)) {
      jar.putNextEntry(new JarEntry(name));
      Objects.requireNonNull(content).transferTo(jar);
    }
    return jars;
  }

  @Test
  void a_node_has_a_collector_that_does_not_stop_it_for_all_its_sessions() {
    var programs = new BuiltPrograms(root);

    assertThat(programs.commandOf(Program.CONNECTION_MANAGER))
        .contains("-XX:+UseG1GC")
        .doesNotContain("-XX:+UseParallelGC");
    assertThat(programs.commandOf(Program.DASHBOARD)).contains("-XX:+UseParallelGC");
  }

  @Test
  void two_processes_that_unpack_a_program_run_the_same_files() throws IOException {
    Path runnable = runnable();
    DirectoryTree.delete(runnable.getParent());
    Files.writeString(target.resolve("another-is-first"), runnable.getParent().toString());

    assertThat(runnable()).isEqualTo(runnable).hasContent("of another");
    try (Stream<Path> left = Files.list(target)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .noneMatch(file -> file.startsWith("layout-draft"));
    }
  }

  @Test
  void the_layouts_of_former_builds_go_when_there_is_a_new_one() throws IOException {
    Path former = Files.createDirectories(target.resolve("layout-former/lib")).getParent();
    Path unfinished = Files.createDirectory(target.resolve("layout-draft-of-another"));

    Path layout = runnable().getParent();

    assertThat(former).doesNotExist();
    assertThat(target.toFile().listFiles(File::isDirectory))
        .containsExactlyInAnyOrder(layout.toFile(), unfinished.toFile());
  }

  @Test
  void jars_of_two_versions_are_counted_and_the_build_is_named() throws IOException {
    Files.createFile(target.resolve("dashboard-2-boot.jar"));

    assertThatExceptionOfType(ProcessFailed.class)
        .isThrownBy(this::runnable)
        .withMessage(
            target
                + " has 2 dashboard-*-boot.jar, and must have one."
                + " Build first: ./mvnw -Pfast -DskipTests package");
  }

  @Test
  void a_class_cache_is_made_once_per_build_and_replaces_those_of_other_jdks() throws IOException {
    Path former = Files.createFile(runnable().resolveSibling("classes-1.aot"));
    var programs = new BuiltPrograms(root);
    assertThat(programs.isTrained(Program.DASHBOARD)).isFalse();

    programs.train(Program.DASHBOARD, Map.of(), root.resolve("logs"));

    assertThat(programs.isTrained(Program.DASHBOARD)).isTrue();
    Path cache =
        runnable().resolveSibling("classes-" + System.getProperty("java.runtime.version") + ".aot");
    assertThat(cache).isNotEmptyFile();
    assertThat(programs.commandOf(Program.DASHBOARD)).contains("-XX:AOTCache=" + cache);
    assertThat(former).doesNotExist();
    assertThat(cache.getParent().toFile().list())
        .containsExactlyInAnyOrder("dashboard-1-boot.jar", cache.getFileName().toString());
  }

  @Test
  void a_cancelled_training_leaves_no_files() {
    var programs = new BuiltPrograms(root);
    Path layout = runnable().getParent();

    Thread.currentThread().interrupt();
    assertThatExceptionOfType(ProcessFailed.class)
        .isThrownBy(() -> programs.train(Program.DASHBOARD, Map.of(), root.resolve("logs")));

    assertThat(Thread.interrupted()).isTrue();
    assertThat(programs.isTrained(Program.DASHBOARD)).isFalse();
    assertThat(layout.toFile().list()).containsExactly("dashboard-1-boot.jar");
    assertThat(ChildRecord.below(root)).isEmpty();
  }

  private Path runnable() {
    return Path.of(new BuiltPrograms(root).commandOf(Program.DASHBOARD).getLast());
  }

  /// Stands in for Boot's jarmode, and for another `up` at the same time where a file asks for it.
  /// It unpacks itself, and ends at once when it is not asked to unpack.
  static final class Extraction {
    private Extraction() {}

    public static void main(String[] arguments) throws IOException {
      if (arguments.length == 0) {
        return;
      }
      Path draft = Path.of(List.of(arguments).getLast());
      Path module = draft.getParent().getParent();
      String jar = module.getFileName() + "-1-boot.jar";
      Files.copy(draft.resolveSibling(jar), Files.createDirectories(draft).resolve(jar));
      Path asked = draft.resolveSibling("another-is-first");
      if (Files.exists(asked)) {
        Path other = Files.createDirectories(Path.of(Files.readString(asked)));
        Files.writeString(other.resolve(jar), "of another");
      }
    }
  }
}
