package io.pushplanet.common.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A page under `docs/` with sections that are generated from the code and checked in. A section
/// NAME stands between the lines `<!-- made from NAME -->` and `<!-- end of NAME -->`; text outside
/// of sections is written by hand.
///
/// The checks write instead of comparing when the system property `docs` is `write`.
public final class ReferencePage {
  /// Writes all sections of all modules anew.
  static final String COMMAND =
      "./mvnw -q -Pfast test -Dtest=ReferenceTest -Dsurefire.failIfNoSpecifiedTests=false -Ddocs=write";

  private static final boolean WRITE = "write".equals(System.getProperty("docs"));

  private final Path file;

  private ReferencePage(Path file) {
    this.file = file;
  }

  /// @param name below the repository's `docs` folder
  public static ReferencePage named(String name) {
    return new ReferencePage(repository().resolve("docs").resolve(name));
  }

  /// The folder that holds the whole repository; tests run in their module's.
  public static Path repository() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("mvnw"))) {
      folder = folder.getParent();
      if (folder == null) {
        throw new IllegalStateException(
            "not inside the repository: " + Path.of("").toAbsolutePath());
      }
    }
    return folder;
  }

  /// The section's current text.
  String section(String name) {
    String page = read();
    return page.substring(start(page, name), end(page, name));
  }

  /// Fails when the committed section differs from the one that the code generates.
  public void mustSay(String section, String made) {
    String wanted = made.strip() + "\n";
    if (WRITE && !section(section).equals(wanted)) {
      write(section, wanted);
    }
    assertThat(section(section))
        .as(
            "section '%s' of %s is not what the code says; write it anew with: %s",
            section, file, COMMAND)
        .isEqualTo(wanted);
  }

  private void write(String section, String made) {
    String page = read();
    try {
      Files.writeString(
          file,
          page.substring(0, start(page, section)) + made + page.substring(end(page, section)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String read() {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int start(String page, String section) {
    String mark = "<!-- made from " + section + " -->\n";
    return place(page, mark) + mark.length();
  }

  private int end(String page, String section) {
    return place(page, "<!-- end of " + section + " -->\n");
  }

  private int place(String page, String mark) {
    int at = page.indexOf(mark);
    if (at < 0) {
      throw new IllegalStateException(file + " has no line " + mark.strip());
    }
    return at;
  }
}
