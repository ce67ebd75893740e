package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// CONFORMANCE.md agrees with the tests: every statement that it calls tested has a test, and every
/// tested statement is on the page.
class ConformancePageTest {
  private static final Path TESTS = Path.of("src/test/java/io/pushplanet/cm");
  private static final Pattern ROW = Pattern.compile("^\\| ([^|]+) \\| ([^|]+) \\| (.+) \\|$");
  private static final Pattern TESTED = Pattern.compile("tested: (\\w+)");
  private static final Pattern METHOD = Pattern.compile("void\\s+(\\w*mqtt\\w+)\\(");
  private static final Pattern IN_METHOD = Pattern.compile("mqtt(311)?_((?:\\d+_)+)");
  private static final Pattern TEST_ROW =
      Pattern.compile("^\\s*\"(?:MQTT-(\\S+)|-), (?:MQTT-(\\S+)|-),", Pattern.MULTILINE);

  private record Row(String v5, String v3, String how) {}

  /// A statement of either version, as the page writes it.
  private record Statement(boolean isV5, String number) {}

  @Test
  void each_statement_that_the_page_calls_tested_is_in_a_tests_name() throws IOException {
    var untested = new ArrayList<String>();
    for (var row : rows()) {
      var tested = TESTED.matcher(row.how());
      if (tested.find()) {
        var named = statementsOf(tested.group(1));
        // 3.1.1's numbers are in names only where 5.0 has no such statement.
        boolean found =
            row.v5().equals("–")
                ? named.contains(new Statement(false, row.v3()))
                : named.contains(new Statement(true, row.v5()));
        if (!found) {
          untested.add(row + " is not in " + tested.group(1));
        }
      }
    }

    assertThat(untested).isEmpty();
  }

  @Test
  void each_statement_in_a_tests_name_stands_on_the_page() throws IOException {
    var known = new HashSet<Statement>();
    for (var row : rows()) {
      known.add(new Statement(true, row.v5()));
      List.of(row.v3().split(", ")).forEach(number -> known.add(new Statement(false, number)));
    }

    for (var test :
        List.of(
            "MalformedStatementsIT",
            "ConnectStatementsIT",
            "ConnAckStatementsIT",
            "DisconnectStatementsIT",
            "PacketSizeStatementsIT",
            "SessionStatementsIT",
            "WillStatementsIT",
            "PublishStatementsIT",
            "UplinkStatementsIT",
            "SubscribeStatementsIT",
            "WebSocketLayerTest")) {
      assertThat(known).as(test).containsAll(statementsOf(test));
    }
  }

  private static List<Row> rows() throws IOException {
    var rows = new ArrayList<Row>();
    for (var line : Files.readAllLines(Path.of("CONFORMANCE.md"))) {
      var row = ROW.matcher(line);
      if (row.matches() && (line.matches("\\| [\\d–].*"))) {
        rows.add(new Row(row.group(1).strip(), row.group(2).strip(), row.group(3)));
      }
    }
    assertThat(rows).hasSizeGreaterThan(200);
    return rows;
  }

  /// The statements in the names of methods (`mqtt_3_1_0_2_…` or `mqtt311_…`, several in one name
  /// if needed) and in a parameterised test's rows, which begin with `MQTT-3.1.0-2, MQTT-3.1.0-2,`.
  /// Comments do not count.
  private static Set<Statement> statementsOf(String test) throws IOException {
    var source = Files.readString(fileOf(test));
    var found = new HashSet<Statement>();
    TEST_ROW
        .matcher(source)
        .results()
        .forEach(row -> {
          add(found, true, row.group(1));
          add(found, false, row.group(2));
        });
    METHOD
        .matcher(source)
        .results()
        .flatMap(method -> IN_METHOD.matcher(method.group(1)).results())
        .forEach(name -> {
          var digits = name.group(2).split("_");
          int last = Math.min(digits.length, 4) - 1;
          add(
              found,
              name.group(1) == null,
              String.join(".", List.of(digits).subList(0, last)) + "-" + digits[last]);
        });
    return found;
  }

  private static void add(Set<Statement> found, boolean isV5, @Nullable String number) {
    if (number != null) {
      found.add(new Statement(isV5, number));
    }
  }

  private static Path fileOf(String test) throws IOException {
    try (var files = Files.walk(TESTS)) {
      return files.filter(file -> file.endsWith(test + ".java")).findAny().orElseThrow();
    }
  }
}
