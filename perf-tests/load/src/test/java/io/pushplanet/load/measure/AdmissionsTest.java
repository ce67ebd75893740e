package io.pushplanet.load.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.pushplanet.load.node.AdmissionLook.Seen;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdmissionsTest {
  private final Admissions admissions = new Admissions();

  @Test
  void the_busiest_second_counts_wherever_it_begins() {
    admissions.add(
        List.of(
            seen(0, 0, 9_000),
            seen(500, 100, 9_000),
            seen(1_000, 700, 9_000),
            seen(1_500, 1_300, 9_000),
            seen(2_000, 1_400, 9_000)));

    assertThat(admissions.mostInASecond()).isEqualTo(1_200);
  }

  @Test
  void a_look_that_took_long_makes_no_second_busier() {
    admissions.add(
        List.of(
            new Seen(millis(0), millis(1_000), 0, 0),
            new Seen(millis(1_900), millis(2_000), 900, 0)));

    assertThat(admissions.mostInASecond()).isEqualTo(450);
  }

  @Test
  void a_storm_shorter_than_a_second_is_one_second() {
    admissions.add(List.of(seen(0, 0, 60), seen(200, 60, 0)));

    assertThat(admissions.mostInASecond()).isEqualTo(60);
  }

  @Test
  void the_rate_counts_only_while_more_waited_than_were_admitted() {
    admissions.add(
        List.of(
            seen(0, 0, 0),
            seen(200, 0, 2_000),
            seen(400, 200, 1_800),
            seen(600, 380, 0),
            seen(800, 380, 0),
            seen(1_000, 390, 100)));

    // Two intervals: 200 and 180 of 1,000 a second.
    assertThat(admissions.share(1_000)).isCloseTo(0.95, within(1e-9));
    assertThat(admissions.lineSeconds()).isCloseTo(0.4, within(1e-9));
    assertThat(admissions.emptySeconds()).isCloseTo(0.2, within(1e-9));
    assertThat(admissions.seconds()).isCloseTo(1, within(1e-9));
  }

  @Test
  void storms_add_up() {
    admissions.add(List.of(seen(0, 0, 500), seen(1_000, 400, 100)));
    admissions.add(List.of(seen(5_000, 400, 900), seen(6_000, 1_000, 100)));

    assertThat(admissions.mostInASecond()).isEqualTo(600);
    assertThat(admissions.share(1_000)).isCloseTo(0.5, within(1e-9));
    assertThat(admissions.seconds()).isCloseTo(2, within(1e-9));
  }

  @Test
  void without_a_line_there_is_no_share() {
    admissions.add(List.of(seen(0, 0, 0), seen(1_000, 10, 0)));

    assertThat(admissions.share(1_000)).isZero();
  }

  private static Seen seen(long millis, long admitted, int waiting) {
    return new Seen(millis(millis), millis(millis), admitted, waiting);
  }

  private static long millis(long millis) {
    return millis * 1_000_000;
  }
}
