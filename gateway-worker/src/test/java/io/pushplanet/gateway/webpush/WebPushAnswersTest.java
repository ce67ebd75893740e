package io.pushplanet.gateway.webpush;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.webpush.WebPushAnswers.Meaning;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WebPushAnswersTest {
  @ParameterizedTest
  @CsvSource({
    "200, ACCEPTED",
    "201, ACCEPTED",
    "202, ACCEPTED",
    "204, ACCEPTED",
    "301, REJECTED",
    "307, REJECTED",
    "400, CREDENTIAL_FAULT",
    "401, CREDENTIAL_FAULT",
    "403, CREDENTIAL_FAULT",
    "404, SUBSCRIPTION_GONE",
    "405, REJECTED",
    "406, BUSY",
    "408, UNAVAILABLE",
    "410, SUBSCRIPTION_GONE",
    "413, REJECTED",
    "429, BUSY",
    "500, UNAVAILABLE",
    "502, UNAVAILABLE",
    "503, UNAVAILABLE",
    "504, UNAVAILABLE",
    "599, UNAVAILABLE"
  })
  void an_answer_means(int status, Meaning meaning) {
    assertThat(WebPushAnswers.of(status)).isEqualTo(meaning);
  }
}
