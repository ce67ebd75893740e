package io.pushplanet.gateway.fcm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.CredentialProbe.Verdict;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FcmProbeTest {
  private final FcmProbe probe = new FcmProbe(URI.create("https://fcm.googleapis.com"));

  @Test
  void a_message_that_would_be_sent_speaks_for_it() {
    byte[] body = "{\"name\":\"projects/p/messages/fake\"}".getBytes(StandardCharsets.UTF_8);

    assertThat(probe.verdict(new Answered(200, Map.of(), body)))
        .isEqualTo(new Verdict.Accepted("200"));
  }

  @ParameterizedTest
  @CsvSource({
    "200, '', Unreachable[why=200 not in Google's form]",
    "401, UNAUTHENTICATED, Refused[reason=401 UNAUTHENTICATED]",
    "403, PERMISSION_DENIED, Refused[reason=403 PERMISSION_DENIED]",
    "404, NOT_FOUND, Refused[reason=404 NOT_FOUND]",
    "400, INVALID_ARGUMENT, Refused[reason=400 INVALID_ARGUMENT]",
    "302, '', Unreachable[why=302 not in Google's form]",
    "400, '', Unreachable[why=400 not in Google's form]",
    "401, '', Unreachable[why=401 not in Google's form]",
    "403, '', Unreachable[why=403 not in Google's form]",
    "404, '', Unreachable[why=404 not in Google's form]",
    "408, '', Unreachable[why=408 not in Google's form]",
    "429, RESOURCE_EXHAUSTED, Unreachable[why=429 RESOURCE_EXHAUSTED]",
    "502, '', Unreachable[why=502 not in Google's form]"
  })
  void only_googles_answers_about_the_credential_count_against_it(
      int status, String code, String verdict) {
    byte[] body =
        (code.isEmpty() ? "<html>" : "{\"error\":{\"status\":\"" + code + "\"}}")
            .getBytes(StandardCharsets.UTF_8);

    assertThat(probe.verdict(new Answered(status, Map.of(), body))).hasToString(verdict);
  }
}
