package io.pushplanet.gateway.hms;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.connection.Reply.Answered;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HmsProbeTest {
  @ParameterizedTest
  @CsvSource({
    "200, 80000000, Accepted[how=200 80000000]",
    "400, 80300007, Accepted[how=400 80300007]",
    "401, 80200001, Refused[reason=401 80200001]",
    "400, 80300002, Refused[reason=400 80300002]",
    "503, 81000001, Unreachable[why=503 81000001]",
    "200, '', Unreachable[why=200 not in Huawei's form]",
    "400, '', Unreachable[why=400 not in Huawei's form]",
    "401, '', Unreachable[why=401 not in Huawei's form]",
    "403, '', Unreachable[why=403 not in Huawei's form]",
    "502, '', Unreachable[why=502 not in Huawei's form]"
  })
  void only_huaweis_answers_about_the_credential_count_against_it(
      int status, String word, String verdict) {
    byte[] body =
        (word.isEmpty() ? "<html>" : "{\"code\":\"" + word + "\"}")
            .getBytes(StandardCharsets.UTF_8);

    assertThat(
            new HmsProbe(URI.create("https://push-api.cloud.huawei.com"))
                .verdict(new Answered(status, Map.of(), body)))
        .hasToString(verdict);
  }
}
