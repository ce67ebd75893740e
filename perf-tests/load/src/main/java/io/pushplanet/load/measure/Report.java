package io.pushplanet.load.measure;

import io.pushplanet.common.wire.WireForm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The results of a benchmark: the form of every `.pushplanet/bench/NAME.json`.
///
/// @param command how to run it again
/// @param machine its processor, memory and runtime
public record Report(
    String name, Instant at, String commit, String command, String machine, List<Row> rows) {
  public Report {
    rows = List.copyOf(rows);
  }

  /// One figure.
  ///
  /// @param peer the figure of a comparable product, measured in the same run, in the same unit
  /// @param goal our goal
  public record Row(
      String metric, String unit, double value, @Nullable Double peer, @Nullable Double goal) {
    public static Row of(String metric, String unit, double value) {
      return new Row(metric, unit, hundredths(value), null, null);
    }

    public static Row of(String metric, String unit, double value, double goal) {
      return new Row(metric, unit, hundredths(value), null, hundredths(goal));
    }

    private static double hundredths(double value) {
      return Math.round(value * 100) / 100.0;
    }
  }

  /// The rows as a table for people.
  public String table() {
    int width = rows.stream().mapToInt(row -> row.metric().length()).max().orElse(0);
    StringBuilder table = new StringBuilder();
    for (Row row : rows) {
      table.append(
          String.format(
              Locale.ROOT,
              "%-" + width + "s %,14.2f %s%s%s%n",
              row.metric(),
              row.value(),
              row.unit(),
              row.peer() == null ? "" : String.format(Locale.ROOT, "  peer %,.2f", row.peer()),
              row.goal() == null ? "" : String.format(Locale.ROOT, "  goal %,.2f", row.goal())));
    }
    return table.toString();
  }

  /// Writes `NAME.json` into a directory.
  public Path write(Path directory) {
    Path file = directory.resolve(name + ".json");
    try {
      Files.createDirectories(directory);
      Files.write(file, WireForm.mapper().writerWithDefaultPrettyPrinter().writeValueAsBytes(this));
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }
}
