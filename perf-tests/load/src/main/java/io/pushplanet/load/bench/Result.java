package io.pushplanet.load.bench;

import io.pushplanet.load.measure.Report;
import java.util.List;

/// Figures of a run, and whether it succeeded: its account balanced, no message was lost.
public record Result(List<Report.Row> rows, boolean succeeded) {
  public Result {
    rows = List.copyOf(rows);
  }
}
