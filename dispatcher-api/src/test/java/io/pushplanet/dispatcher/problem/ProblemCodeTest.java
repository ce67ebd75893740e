package io.pushplanet.dispatcher.problem;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProblemCodeTest {
  @ParameterizedTest
  @CsvSource({"400, 400", "404, 404", "501, 400", "505, 400", "500, 500", "503, 503"})
  void what_the_container_refuses_by_itself_keeps_its_meaning(int status, int told) {
    assertThat(ProblemCode.ofStatus(status).status()).isEqualTo(told);
  }

  @Test
  void who_comes_while_the_container_stops_hears_when_to_come_again() {
    assertThat(ProblemException.ofStatus(503).headers()).containsEntry("Retry-After", "1");
  }
}
