package io.pushplanet.gateway.fcm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.fcm.FcmAnswers.Meaning;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FcmAnswersTest {
  @ParameterizedTest
  @CsvSource({
    "200, '', ACCEPTED",
    "400, INVALID_ARGUMENT, TOKEN_GONE_IF_NAMED",
    "401, THIRD_PARTY_AUTH_ERROR, OTHER_CREDENTIAL_FAULT",
    "401, UNAUTHENTICATED, RENEW_ACCESS_TOKEN",
    "403, SENDER_ID_MISMATCH, TOKEN_FOREIGN",
    "403, PERMISSION_DENIED, CREDENTIAL_FAULT",
    "404, UNREGISTERED, TOKEN_GONE",
    "404, NOT_FOUND, TOKEN_OR_CREDENTIAL_FAULT",
    "429, QUOTA_EXCEEDED, QUOTA",
    "429, RESOURCE_EXHAUSTED, QUOTA",
    "500, INTERNAL, UNAVAILABLE",
    "503, UNAVAILABLE, UNAVAILABLE",
    "401, SOMETHING_NEW, RENEW_ACCESS_TOKEN",
    "403, SOMETHING_NEW, CREDENTIAL_FAULT",
    "404, SOMETHING_NEW, CREDENTIAL_FAULT",
    "401, '', UNAVAILABLE",
    "403, '', UNAVAILABLE",
    "404, '', UNAVAILABLE",
    "400, '', REJECTED",
    "408, '', UNAVAILABLE",
    "429, '', QUOTA",
    "500, '', UNAVAILABLE",
    "502, '', UNAVAILABLE",
    "302, '', UNAVAILABLE"
  })
  void an_answer_means(int status, String code, Meaning meaning) {
    assertThat(FcmAnswers.of(status, code)).isEqualTo(meaning);
  }

  @Test
  void hackerspub_251_only_an_answer_about_the_token_costs_it() {
    assertThat(FcmAnswers.ROWS)
        .filteredOn(row -> row.meaning() == Meaning.TOKEN_GONE)
        .containsExactly(new FcmAnswers.Row(404, "UNREGISTERED", Meaning.TOKEN_GONE));
    for (int status = 300; status < 600; status++) {
      for (String code : List.of("", "NOT_FOUND", "SOMETHING_NEW")) {
        assertThat(FcmAnswers.of(status, code))
            .isNotIn(Meaning.TOKEN_GONE, Meaning.TOKEN_GONE_IF_NAMED, Meaning.TOKEN_FOREIGN);
      }
    }
  }

  /// novuhq/novu#12532: a clean-up that matches one sentence of Google's keeps the tokens that die
  /// with another one.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Requested entity was not found.",
        "NotRegistered",
        "The registration token is not a valid FCM registration token"
      })
  void novu_12532_a_dead_token_is_known_by_its_code_and_never_by_a_sentence(String sentence) {
    assertThat(meaning(404, "NOT_FOUND", "UNREGISTERED", sentence)).isEqualTo(Meaning.TOKEN_GONE);
    assertThat(meaning(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", sentence))
        .isEqualTo(Meaning.TOKEN_FOREIGN);
    assertThat(meaning(404, "NOT_FOUND", "", sentence))
        .isEqualTo(Meaning.TOKEN_OR_CREDENTIAL_FAULT);
    assertThat(meaning(503, "UNAVAILABLE", "UNAVAILABLE", sentence)).isEqualTo(Meaning.UNAVAILABLE);
  }

  private static Meaning meaning(int httpStatus, String status, String code, String sentence) {
    String details = code.isEmpty() ? "" : "{\"errorCode\":\"" + code + "\"}";
    FcmError error =
        FcmError.parse(
            """
            {"error":{"message":"%s","status":"%s","details":[%s]}}
            """
                .formatted(sentence, status, details)
                .getBytes(StandardCharsets.UTF_8));
    return FcmAnswers.of(httpStatus, error.code());
  }

  @Test
  void the_error_code_in_the_details_comes_before_the_status() {
    FcmError error =
        FcmError.parse(
            """
            {"error":{"code":404,"status":"NOT_FOUND","details":[
              {"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError",
               "errorCode":"UNREGISTERED"}]}}
            """
                .getBytes(StandardCharsets.UTF_8));

    assertThat(error).isEqualTo(new FcmError("", "UNREGISTERED", false, FcmError.Quota.UNSAID, ""));
  }

  @ParameterizedTest
  @CsvSource({
    "device:t1, NARROW",
    "Topic message rate, NARROW",
    "project:demo, PROJECT",
    "project:smart-device-prod, PROJECT",
    "device of project:smart-device-prod, NARROW"
  })
  void a_quota_failure_says_whose_quota_is_used_up(String subject, FcmError.Quota quota) {
    FcmError error =
        FcmError.parse(
            """
            {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[
              {"errorCode":"QUOTA_EXCEEDED"},{"violations":[{"subject":"%s"}]}]}}
            """
                .formatted(subject)
                .getBytes(StandardCharsets.UTF_8),
            "smart-device-prod");

    assertThat(error).isEqualTo(new FcmError("", "QUOTA_EXCEEDED", false, quota, ""));
  }

  @ParameterizedTest
  @CsvSource({"message.token, true", "message.fid, true", "message.data, false"})
  void a_violation_names_the_token(String field, boolean named) {
    String body =
        "{\"error\":{\"status\":\"INVALID_ARGUMENT\",\"details\":[{\"fieldViolations\":[{\"field\":\""
            + field
            + "\"}]}]}}";

    FcmError error = FcmError.parse(body.getBytes(StandardCharsets.UTF_8));

    assertThat(error.namesToken()).isEqualTo(named);
    assertThat(error.code()).isEqualTo("INVALID_ARGUMENT");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "<html>Bad gateway</html>", "[]", "null", "{\"error\":\"text\"}"})
  void an_answer_in_another_form_than_googles_says_nothing(String body) {
    assertThat(FcmError.parse(body.getBytes(StandardCharsets.UTF_8)))
        .isEqualTo(new FcmError("", "", false, FcmError.Quota.UNSAID, ""));
  }
}
