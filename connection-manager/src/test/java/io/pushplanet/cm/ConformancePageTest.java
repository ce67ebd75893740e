package io.pushplanet.cm;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// CONFORMANCE.md agrees with the tests: every row says that a test proves its statements or why
/// none can, the statements that it calls tested have tests, every tested statement is on the page,
/// and none is missing between the first and the last of its section.
class ConformancePageTest {
  private static final Path TESTS = Path.of("src/test/java/io/pushplanet/cm");
  private static final Pattern ROW = Pattern.compile("^\\| ([^|]+) \\| ([^|]+) \\| (.+) \\|$");
  private static final Pattern TESTED =
      Pattern.compile("tested: (\\w+(?:IT|Test)(?:, \\w+(?:IT|Test))*)");
  private static final Pattern UNTESTED =
      Pattern.compile("(?:a duty of clients|not applicable: \\w).*");
  private static final Pattern CLASS = Pattern.compile("\\b\\w+(?:IT|Test)\\b");

  /// `3.8.4-1`, or `3.5.2-1 to -3`.
  private static final Pattern NUMBER = Pattern.compile("([\\d.]+)-(\\d+)(?: to -(\\d+))?");

  private static final Pattern METHOD = Pattern.compile("void\\s+(\\w*mqtt\\w+)\\(");
  private static final Pattern IN_METHOD =
      Pattern.compile("(?<!rabbitmq_)mqtt(311)?_((?:\\d+_){3,4})(?:to_(\\d+)_)?");
  private static final Pattern TEST_ROW =
      Pattern.compile("^\\s*\"(?:MQTT-(\\S+)|-), (?:MQTT-(\\S+)|-),", Pattern.MULTILINE);

  /// The standard has no such statement.
  private static final Set<Statement> GAPS = Set.of(new Statement(true, "2.2.1", 1));

  private record Row(Set<Statement> v5, Set<Statement> v3, String how) {}

  /// A statement of either version.
  private record Statement(boolean isV5, String section, int number) {
    /// The statements of a cell of the page.
    static Set<Statement> allOf(boolean isV5, String cell) {
      return NUMBER
          .matcher(cell)
          .results()
          .flatMap(found -> range(isV5, found.group(1), found.group(2), found.group(3)))
          .collect(Collectors.toSet());
    }

    private static Stream<Statement> range(
        boolean isV5, String section, String first, @Nullable String last) {
      int from = Integer.parseInt(first);
      return IntStream.rangeClosed(from, last == null ? from : Integer.parseInt(last))
          .mapToObj(number -> new Statement(isV5, section, number));
    }
  }

  @Test
  void each_row_names_its_test_or_says_why_there_is_none() throws IOException {
    assertThat(rows())
        .allSatisfy(row -> {
          assertThat(row.v5().size() + row.v3().size()).as("statements of %s", row).isPositive();
          assertThat(TESTED.matcher(row.how()).find() || UNTESTED.matcher(row.how()).matches())
              .as("%s", row)
              .isTrue();
        });
  }

  @Test
  void each_test_that_a_row_names_exists() throws IOException {
    for (var row : rows()) {
      for (var name : CLASS.matcher(row.how()).results().map(MatchResult::group).toList()) {
        assertThat(fileOf(name)).as("%s", row).isRegularFile();
      }
    }
  }

  @Test
  void each_statement_that_the_page_calls_tested_is_in_a_tests_name() throws IOException {
    var untested = new ArrayList<String>();
    for (var row : rows()) {
      var tested = TESTED.matcher(row.how());
      if (tested.find()) {
        var named = new HashSet<Statement>();
        for (var test : tested.group(1).split(", ")) {
          named.addAll(statementsOf(test));
        }
        // 3.1.1's numbers are in names only where 5.0 has no such statement.
        var claimed = row.v5().isEmpty() ? row.v3() : row.v5();
        claimed.stream()
            .filter(statement -> !named.contains(statement))
            .forEach(statement -> untested.add(statement + " is not in " + tested.group(1)));
      }
    }

    assertThat(untested).isEmpty();
  }

  @Test
  void each_statement_in_a_tests_name_stands_on_the_page() throws IOException {
    var known = statements();
    for (var test : tests()) {
      assertThat(known).as(test).containsAll(statementsOf(test));
    }
  }

  @Test
  void no_statement_of_a_section_is_missing() throws IOException {
    Map<String, TreeSet<Integer>> sections =
        Stream.concat(statements().stream(), GAPS.stream())
            .collect(
                groupingBy(
                    statement -> (statement.isV5() ? "5.0 " : "3.1.1 ") + statement.section(),
                    TreeMap::new,
                    mapping(Statement::number, toCollection(TreeSet::new))));

    assertThat(sections)
        .allSatisfy((section, numbers) ->
            assertThat(numbers)
                .as(section)
                .containsExactlyElementsOf(
                    IntStream.rangeClosed(1, numbers.last()).boxed().toList()));
  }

  private static Set<Statement> statements() throws IOException {
    return rows().stream()
        .flatMap(row -> Stream.concat(row.v5().stream(), row.v3().stream()))
        .collect(Collectors.toSet());
  }

  private static List<Row> rows() throws IOException {
    var rows = new ArrayList<Row>();
    for (var line : Files.readAllLines(Path.of("CONFORMANCE.md"))) {
      var row = ROW.matcher(line);
      if (row.matches() && line.matches("\\| (?:[\\d.]+-\\d|–).*")) {
        rows.add(
            new Row(
                Statement.allOf(true, row.group(1)),
                Statement.allOf(false, row.group(2)),
                row.group(3)));
      }
    }
    assertThat(rows).hasSizeGreaterThan(200);
    return rows;
  }

  /// The statements in the names of methods (`mqtt_3_1_0_2_…`, `mqtt_3_5_2_1_to_3_…` or
  /// `mqtt311_…`, several in one name if needed) and in a parameterised test's rows, which begin
  /// with `MQTT-3.1.0-2, MQTT-3.1.0-2,`. Comments do not count.
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
          var digits = List.of(name.group(2).split("_"));
          Statement.range(
                  name.group(1) == null,
                  String.join(".", digits.subList(0, digits.size() - 1)),
                  digits.getLast(),
                  name.group(3))
              .forEach(found::add);
        });
    return found;
  }

  private static void add(Set<Statement> found, boolean isV5, @Nullable String number) {
    if (number != null) {
      found.addAll(Statement.allOf(isV5, number));
    }
  }

  private static List<String> tests() throws IOException {
    try (var files = Files.walk(TESTS)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith("IT.java") || name.endsWith("Test.java"))
          .map(name -> name.substring(0, name.length() - ".java".length()))
          .toList();
    }
  }

  private static Path fileOf(String test) throws IOException {
    try (var files = Files.walk(TESTS)) {
      return files
          .filter(file -> file.endsWith(test + ".java"))
          .findAny()
          .orElseThrow(() -> new AssertionError("there is no " + test));
    }
  }
}
