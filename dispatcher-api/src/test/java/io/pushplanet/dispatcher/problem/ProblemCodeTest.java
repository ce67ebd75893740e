package io.pushplanet.dispatcher.problem;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProblemCodeTest {
  @ParameterizedTest
  @CsvSource({"400, 400", "404, 404", "501, 400", "505, 400", "500, 500", "503, 503"})
  void a_status_of_tomcat_gets_the_code_with_its_meaning(int status, int told) {
    assertThat(ProblemCode.ofStatus(status).status()).isEqualTo(told);
  }

  @Test
  void a_request_while_tomcat_stops_gets_a_retry_after() {
    assertThat(ProblemException.ofStatus(503).headers()).containsEntry("Retry-After", "1");
  }
}
