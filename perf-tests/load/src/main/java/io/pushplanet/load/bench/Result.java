package io.pushplanet.load.bench;

import io.pushplanet.load.measure.Report;
import java.util.List;

/// Figures of a run, and whether its account balanced.
public record Result(List<Report.Row> rows, boolean balances) {
  public Result {
    rows = List.copyOf(rows);
  }
}
