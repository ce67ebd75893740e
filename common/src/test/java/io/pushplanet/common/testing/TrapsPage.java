package io.pushplanet.common.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/// A module's `TRAPS.md`.
public final class TrapsPage {
  private static final Pattern IN_ROW = Pattern.compile("`(\\w+_)…`");

  private TrapsPage() {}

  /// Fails when a report in the table of the module under test names no existing test.
  public static void mustNameTests() throws IOException {
    var tests = new StringBuilder();
    try (var files = Files.walk(Path.of("src/test/java"))) {
      for (var file : files.filter(file -> file.toString().endsWith(".java")).toList()) {
        tests.append(Files.readString(file));
      }
    }
    var rows =
        Files.readAllLines(Path.of("TRAPS.md")).stream()
            .filter(line -> line.startsWith("| ") && line.contains("#"))
            .toList();

    assertThat(rows)
        .isNotEmpty()
        .allSatisfy(row -> {
          var named = IN_ROW.matcher(row).results().map(name -> "void " + name.group(1)).toList();
          assertThat(named).isNotEmpty().allMatch(name -> tests.indexOf(name) >= 0);
        });
  }
}
