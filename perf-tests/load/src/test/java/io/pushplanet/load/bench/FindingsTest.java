package io.pushplanet.load.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.load.measure.Report;
import org.junit.jupiter.api.Test;

class FindingsTest {
  private final Findings findings = new Findings();

  @Test
  void a_missed_goal_does_not_fail_the_run() {
    findings.row("CPU", "us", 12, 10);

    assertThat(findings.result().succeeded()).isTrue();
    assertThat(findings.result().rows()).containsExactly(Report.Row.of("CPU", "us", 12, 10));
  }

  @Test
  void a_figure_that_must_be_zero_fails_the_run() {
    findings.none("errors", "", 1);
    findings.none("losses", "", 0);

    assertThat(findings.result().succeeded()).isFalse();
    assertThat(findings.result().rows())
        .containsExactly(Report.Row.of("errors", "", 1, 0), Report.Row.of("losses", "", 0, 0));
  }

  @Test
  void a_missing_requirement_fails_the_run_without_a_row() {
    findings.require(false);
    findings.require(true);

    assertThat(findings.result().succeeded()).isFalse();
    assertThat(findings.result().rows()).isEmpty();
  }
}
