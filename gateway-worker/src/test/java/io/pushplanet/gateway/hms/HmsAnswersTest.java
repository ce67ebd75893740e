package io.pushplanet.gateway.hms;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.hms.HmsAnswers.Meaning;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HmsAnswersTest {
  @ParameterizedTest
  @CsvSource({
    "200, 80000000, ACCEPTED",
    "200, 80100000, PARTLY_ACCEPTED",
    "400, 80100001, REJECTED_TOGETHER",
    "400, 80100003, REJECTED",
    "400, 80100004, REJECTED",
    "400, 80100013, REJECTED",
    "400, 80100016, REJECTED",
    "400, 80100017, LATER",
    "400, 80100018, REJECTED",
    "401, 80200001, RENEW_ACCESS_TOKEN",
    "401, 80200003, RENEW_ACCESS_TOKEN",
    "401, 80200005, RENEW_ACCESS_TOKEN",
    "400, 80300002, CREDENTIAL_FAULT",
    "400, 80300007, TOKENS_ILLEGAL",
    "400, 80300008, REJECTED",
    "400, 80300010, REJECTED_TOGETHER",
    "400, 80300011, NOT_URGENT",
    "400, 80300013, REJECTED",
    "500, 80600003, LATER",
    "500, 81000001, INTERNAL",
    "500, 82000001, INTERNAL",
    // The code says more than the status.
    "200, 80300007, TOKENS_ILLEGAL",
    "503, 81000001, INTERNAL",
    "200, '', INTERNAL",
    "200, 99999999, INTERNAL",
    "400, '', REJECTED_TOGETHER",
    "401, '', INTERNAL",
    "408, '', INTERNAL",
    "403, '', INTERNAL",
    "404, '', INTERNAL",
    "401, 99999999, RENEW_ACCESS_TOKEN",
    "403, 99999999, CREDENTIAL_FAULT",
    "404, 99999999, CREDENTIAL_FAULT",
    "429, '', FLOW_CONTROL",
    "500, '', INTERNAL",
    "502, '', INTERNAL",
    "503, '', FLOW_CONTROL"
  })
  void an_answer_means(int status, String code, Meaning meaning) {
    assertThat(HmsAnswers.of(status, code)).isEqualTo(meaning);
  }

  @Test
  void illegal_tokens_are_named_by_json_in_a_text() {
    assertThat(
            answer(
                """
                {"code":"80100000","msg":"{\\"success\\":3,\\"failure\\":1,\\"illegal_tokens\\":[\\"x/1\\"]}",
                 "requestId":"157"}
                """))
        .isEqualTo(new HmsAnswer("80100000", "157", "", Set.of("x/1")));
    assertThat(answer("{\"code\":\"80100000\",\"msg\":\"some failed\"}"))
        .isEqualTo(new HmsAnswer("80100000", "", "", Set.of()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "<html>Bad gateway</html>", "[]", "null", "\"80000000\""})
  void an_answer_in_another_form_than_push_kits_says_nothing(String body) {
    assertThat(answer(body)).isEqualTo(HmsAnswer.SILENT);
  }

  private static HmsAnswer answer(String body) {
    return HmsAnswer.parse(body.getBytes(StandardCharsets.UTF_8));
  }
}
