package io.pushplanet.common.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The meters of one module as a Markdown table: names, types and tags from its sources. A meaning
/// is the description in the code, or else the meaning that the page has already, which was written
/// by hand and is kept.
public final class MetersTable {
  private static final ReferencePage PAGE = ReferencePage.named("metrics.md");
  private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z_]+)(?:\\{([^}]*)})? ");
  private static final Pattern TAG = Pattern.compile("([a-z_]+)=\"");
  private static final Pattern PARTS = Pattern.compile("_(count|sum|max|bucket)$");

  /// Tags that belong to no single meter: buckets, quantiles, and the tags of all meters of a
  /// process.
  private static final Set<String> EVERYWHERE = Set.of("le", "quantile", "application");

  private MetersTable() {}

  /// Fails when the page and the sources of `module` differ, or when the page lacks a meter's
  /// meaning.
  public static void mustBeOnThePage(String module) {
    Map<String, String> meanings = meanings(PAGE.section(module));
    String rows =
        MetersInSources.below(ReferencePage.repository().resolve(module).resolve("src/main/java"))
            .values()
            .stream()
            .map(meter -> row(meter, meanings.getOrDefault(meter.name(), "")))
            .collect(Collectors.joining("\n"));
    PAGE.mustSay(module, "| meter | type | tags | meaning |\n|---|---|---|---|\n" + rows);
    assertThat(meanings(PAGE.section(module)))
        .as("every meter says in docs/metrics.md what it means")
        .allSatisfy((_, meaning) -> assertThat(meaning).isNotEmpty());
  }

  /// Fails when a running process shows a meter of ours that the sections do not list with these
  /// tags. It finds tags that the sources do not spell out.
  ///
  /// @param port where the process serves `/actuator/prometheus`
  /// @param modules the sections of the process
  public static void mustName(int port, String... modules) {
    Map<String, Set<String>> known = new TreeMap<>();
    for (String module : modules) {
      cells(PAGE.section(module)).forEach(cells -> known.put(cells.get(0), tags(cells.get(2))));
    }
    String page = scrape(port);
    assertThat(page).contains("jvm_memory_used_bytes");
    Map<String, Set<String>> seen = new TreeMap<>();
    SAMPLE
        .matcher(page)
        .results()
        .filter(sample -> sample.group(1).matches("(pushplanet|cm|dashboard)_.*"))
        .forEach(sample ->
            seen.computeIfAbsent(
                    PARTS.matcher(sample.group(1)).replaceAll(""), _ -> new TreeSet<>())
                .addAll(tags(sample)));
    assertThat(known)
        .as("what docs/metrics.md says of %s", String.join(", ", modules))
        .containsAllEntriesOf(seen);
  }

  private static String scrape(int port) {
    URI address = URI.create("http://127.0.0.1:" + port + "/actuator/prometheus");
    HttpRequest request = HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(30)).build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static String row(Meter meter, String meaning) {
    return "| `%s` | %s | %s | %s |"
        .formatted(
            meter.name(),
            meter.type(),
            meter.tagsInWords(),
            meter.description().isEmpty() ? meaning : meter.description());
  }

  private static Map<String, String> meanings(String section) {
    return cells(section).collect(Collectors.toMap(cells -> cells.get(0), cells -> cells.get(3)));
  }

  /// The cells of each row that names a meter.
  private static Stream<List<String>> cells(String section) {
    return section
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line ->
            Arrays.stream(line.substring(1, line.length() - 1).split("\\|", -1))
                .map(String::strip)
                .map(cell -> cell.replaceFirst("^`([a-z_]+)`$", "$1"))
                .toList());
  }

  private static Set<String> tags(String cell) {
    return Arrays.stream(cell.replaceAll("\\([^)]*\\)", "").split(",", -1))
        .map(tag -> tag.replace("`", "").strip())
        .filter(tag -> !tag.isEmpty())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> tags(MatchResult sample) {
    String given = sample.group(2) == null ? "" : sample.group(2);
    return TAG.matcher(given)
        .results()
        .map(tag -> tag.group(1))
        .filter(tag -> !EVERYWHERE.contains(tag))
        .collect(Collectors.toSet());
  }
}
