package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// CONFORMANCE.md says what the tests say: no statement is called tested that is not, and none is forgotten.
class ConformancePageTest {
  private static final Path TESTS = Path.of("src/test/java/io/pushplanet/cm");
  private static final Pattern ROW = Pattern.compile("^\\| ([^|]+) \\| ([^|]+) \\| (.+) \\|$");
  private static final Pattern TESTED = Pattern.compile("tested: (\\w+)");
  private static final Pattern NAME = Pattern.compile("mqtt(311)?_((?:\\d+_)+)");
  private static final Pattern NUMBER = Pattern.compile("MQTT-(\\d+(?:\\.\\d+)*-\\d+)");

  private record Row(String v5, String v3, String how) {}

  @Test
  void what_the_page_calls_tested_is_named_by_that_test() throws IOException {
    var untested = new ArrayList<String>();
    for (var row : rows()) {
      var tested = TESTED.matcher(row.how());
      if (tested.find()) {
        var named = statementsOf(tested.group(1));
        boolean found =
            named.contains(row.v5())
                || List.of(row.v3().split(", ")).stream().anyMatch(named::contains);
        if (!found) {
          untested.add(row + " is not in " + tested.group(1));
        }
      }
    }

    assertThat(untested).isEmpty();
  }

  @Test
  void what_a_test_names_stands_on_the_page() throws IOException {
    var known = new TreeSet<String>();
    for (var row : rows()) {
      known.add(row.v5());
      known.addAll(List.of(row.v3().split(", ")));
    }

    for (var test :
        List.of(
            "MalformedStatementsIT",
            "ConnectStatementsIT",
            "SessionStatementsIT",
            "WillStatementsIT",
            "PublishStatementsIT",
            "SubscribeStatementsIT")) {
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

  /// `MQTT-3.1.0-2` or a method `mqtt_3_1_0_2_…`: both are 3.1.0-2.
  private static TreeSet<String> statementsOf(String test) throws IOException {
    var source = Files.readString(TESTS.resolve(test + ".java"));
    var found = new TreeSet<String>();
    NUMBER.matcher(source).results().forEach(number -> found.add(number.group(1)));
    NAME.matcher(source)
        .results()
        .forEach(name -> {
          var digits = name.group(2).split("_");
          int last = Math.min(digits.length, 4) - 1;
          found.add(String.join(".", List.of(digits).subList(0, last)) + "-" + digits[last]);
        });
    return found;
  }
}
