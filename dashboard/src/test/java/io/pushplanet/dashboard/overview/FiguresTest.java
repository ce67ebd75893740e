package io.pushplanet.dashboard.overview;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dashboard.overview.StatisticsMapper.Counted;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FiguresTest {
  private static final Instant NOW = Instant.parse("2026-11-21T10:07:31Z");

  @Test
  void an_hour_has_sixty_minutes_and_ends_with_the_present_one() {
    Figures figures =
        Figures.of(
            List.of(
                new Counted(Instant.parse("2026-11-21T10:07:00Z"), "accepted", "", 3),
                new Counted(Instant.parse("2026-11-21T09:08:00Z"), "accepted", "", 5),
                new Counted(Instant.parse("2026-11-21T09:07:00Z"), "accepted", "", 9)),
            Figures.Span.HOUR,
            NOW);

    assertThat(figures.starts()).hasSize(60);
    assertThat(figures.accepted()[59]).isEqualTo(3);
    assertThat(figures.accepted()[0]).isEqualTo(5);
    assertThat(figures.totals().accepted()).isEqualTo(8);
  }

  @Test
  void a_day_is_drawn_in_quarters_of_an_hour() {
    Figures figures =
        Figures.of(
            List.of(
                new Counted(Instant.parse("2026-11-21T10:00:00Z"), "delivered", "", 1),
                new Counted(Instant.parse("2026-11-21T10:06:00Z"), "delivered", "", 1),
                new Counted(Instant.parse("2026-11-20T10:15:00Z"), "delivered", "", 4)),
            Figures.Span.DAY,
            NOW);

    assertThat(figures.starts()).hasSize(96);
    assertThat(figures.delivered()[95]).isEqualTo(2);
    assertThat(figures.delivered()[0]).isEqualTo(4);
  }

  @Test
  void each_end_has_its_total() {
    List<Counted> rows = new ArrayList<>();
    for (String outcome :
        List.of("accepted", "delivered", "failed", "expired", "cancelled", "opened")) {
      rows.add(new Counted(NOW, outcome, "", outcome.length()));
    }

    assertThat(Figures.of(rows, Figures.Span.HOUR, NOW).totals())
        .isEqualTo(new Figures.Totals(8, 9, 6, 7, 9, 6));
  }

  @Test
  void rare_reasons_are_shown_together() {
    List<Counted> rows = new ArrayList<>();
    for (int i = 1; i <= 9; i++) {
      rows.add(new Counted(NOW.minus(Duration.ofMinutes(1)), "failed", "reason " + i, i));
    }

    Figures figures = Figures.of(rows, Figures.Span.HOUR, NOW);

    assertThat(figures.failed())
        .extracting(Figures.ByReason::reason)
        .containsExactly(
            "reason 9", "reason 8", "reason 7", "reason 6", "reason 5", "other reasons");
    assertThat(figures.failed().getLast().total()).isEqualTo(10);
    assertThat(figures.totals().failed()).isEqualTo(45);
  }
}
