package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.quickstart.services.DirectoryTree;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// In a repository whose dashboard is a jar that knows how to extract itself.
class BuiltProgramsIT {
  @TempDir private Path root;
  private Path target;

  @BeforeEach
  void layOutARepository() throws IOException {
    target = Files.createDirectories(root.resolve("dashboard/target"));
    var manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, Extraction.class.getName());
    String name = Extraction.class.getName().replace('.', '/') + ".class";
    try (InputStream content = Extraction.class.getClassLoader().getResourceAsStream(name);
        var jar =
            new JarOutputStream(
                Files.newOutputStream(target.resolve("dashboard-1-boot.jar")), manifest)) {
      jar.putNextEntry(new JarEntry(name));
      Objects.requireNonNull(content).transferTo(jar);
    }
  }

  @Test
  void whoever_lays_a_program_out_second_runs_what_the_first_one_laid_out() throws IOException {
    Path runnable = runnable();
    DirectoryTree.delete(runnable.getParent());
    Files.writeString(target.resolve("another-is-first"), runnable.getParent().toString());

    assertThat(runnable()).isEqualTo(runnable).hasContent("of another");
    try (Stream<Path> left = Files.list(target)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .noneMatch(file -> file.startsWith("layout-draft"));
    }
  }

  private Path runnable() {
    return Path.of(new BuiltPrograms(root).commandOf(Program.DASHBOARD).getLast());
  }

  /// What Boot's jarmode does, and what another `up` does meanwhile where a file asks for it.
  static final class Extraction {
    private Extraction() {}

    public static void main(String[] arguments) throws IOException {
      Path draft = Path.of(List.of(arguments).getLast());
      write(draft, "ours");
      Path asked = draft.resolveSibling("another-is-first");
      if (Files.exists(asked)) {
        write(Path.of(Files.readString(asked)), "of another");
      }
    }

    private static void write(Path layout, String content) throws IOException {
      Files.writeString(Files.createDirectories(layout).resolve("dashboard-1-boot.jar"), content);
    }
  }
}
