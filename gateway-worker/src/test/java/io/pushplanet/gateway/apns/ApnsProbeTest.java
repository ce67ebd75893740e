package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.connection.Reply.Answered;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApnsProbeTest {
  @ParameterizedTest
  @CsvSource({
    "400, BadDeviceToken, Accepted[how=400 BadDeviceToken]",
    "400, TopicDisallowed, Refused[reason=400 TopicDisallowed]",
    "403, InvalidProviderToken, Refused[reason=403 InvalidProviderToken]",
    "403, ExpiredProviderToken, Unreachable[why=403 ExpiredProviderToken]",
    "429, TooManyProviderTokenUpdates, Unreachable[why=429 TooManyProviderTokenUpdates]",
    "200, '', Unreachable[why=200 not in Apple's form]",
    "400, '', Unreachable[why=400 not in Apple's form]",
    "403, '', Unreachable[why=403 not in Apple's form]",
    "502, '', Unreachable[why=502 not in Apple's form]"
  })
  void only_apples_answers_about_the_credential_count_against_it(
      int status, String word, String verdict) {
    byte[] body =
        (word.isEmpty() ? "<html>" : "{\"reason\":\"" + word + "\"}")
            .getBytes(StandardCharsets.UTF_8);

    assertThat(ApnsProbe.verdict(new Answered(status, Map.of(), body))).hasToString(verdict);
  }

  @Test
  void a_200_without_a_page_is_apples() {
    assertThat(ApnsProbe.verdict(new Answered(200, Map.of(), new byte[0])))
        .hasToString("Accepted[how=200]");
  }
}
