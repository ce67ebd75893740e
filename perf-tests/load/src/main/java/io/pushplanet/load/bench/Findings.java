package io.pushplanet.load.bench;

import io.pushplanet.load.measure.Report;
import java.util.ArrayList;
import java.util.List;

/// The rows of a run, in the order in which its parts add them, and whether everything held that
/// must hold. For one thread.
public final class Findings {
  private final List<Report.Row> rows = new ArrayList<>();
  private boolean hold = true;

  /// Adds a figure.
  public void row(String metric, String unit, double value) {
    rows.add(Report.Row.of(metric, unit, value));
  }

  /// Adds a figure beside our goal. The run succeeds without it.
  public void row(String metric, String unit, double value, double goal) {
    rows.add(Report.Row.of(metric, unit, value, goal));
  }

  /// Adds figures, with or without goals.
  public void rows(List<Report.Row> more) {
    rows.addAll(more);
  }

  /// Adds a figure that must be zero.
  public void none(String metric, String unit, double value) {
    require(value == 0);
    row(metric, unit, value, 0);
  }

  /// Without this the run does not succeed.
  public void require(boolean condition) {
    hold &= condition;
  }

  public Result result() {
    return new Result(rows, hold);
  }
}
