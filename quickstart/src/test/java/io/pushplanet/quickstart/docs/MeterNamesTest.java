package io.pushplanet.quickstart.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A graph of a renamed meter stays empty, and its reader cannot know why. An alert on it never
/// fires.
class MeterNamesTest {
  /// `pushplanet_id` is not a meter, but our id in payloads that have an `id` of their own.
  private static final Pattern METER =
      Pattern.compile("\\b(?!pushplanet_id\\b)(?:pushplanet|cm|dashboard)_[a-z_]+\\b");

  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z_]+)` \\|");
  private static final Pattern PARTS = Pattern.compile("_(count|sum|max|bucket)$");

  /// Results and the changelog name meters of their time.
  static Stream<Path> places() throws IOException {
    return Stream.concat(
        Pages.all().stream()
            .filter(page -> !page.startsWith("perf-tests/results"))
            .filter(page -> !page.endsWith("CHANGELOG.md")),
        Stream.of(
            Path.of("docs/operations/grafana/dashboards/pushplanet.json"),
            Path.of("docs/operations/alerts.yml")));
  }

  @ParameterizedTest
  @MethodSource("places")
  void every_named_meter_exists(Path place) {
    Set<String> known =
        ROW.matcher(Pages.read(Pages.ROOT.resolve("docs/metrics.md")))
            .results()
            .map(row -> row.group(1))
            .collect(Collectors.toSet());

    Set<String> unknown =
        METER
            .matcher(Pages.read(Pages.ROOT.resolve(place)))
            .results()
            .map(found -> PARTS.matcher(found.group()).replaceAll(""))
            .filter(name -> !known.contains(name))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(unknown).as("%s names meters that docs/metrics.md does not have", place).isEmpty();
  }
}
