package io.pushplanet.dispatcher.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonBodyTest {
  private static String refusal(byte[] body) {
    ProblemException[] told = new ProblemException[1];
    assertThatThrownBy(() -> JsonBody.of(body))
        .isInstanceOfSatisfying(ProblemException.class, problem -> told[0] = problem);
    assertThat(told[0].code()).isEqualTo(ProblemCode.MALFORMED_JSON);
    return told[0].detail();
  }

  @ParameterizedTest
  @ValueSource(strings = {"c0af", "e080af", "f08080af", "eda080", "ff", "c3", "f4908080"})
  void what_is_no_utf8_is_refused_wherever_it_stands(String bytes) {
    for (int before : new int[] {0, 1, 1_023, 5_000}) {
      byte[] start = ("{\"t\":\"" + "가".repeat(before)).getBytes(StandardCharsets.UTF_8);
      byte[] middle = HexFormat.of().parseHex(bytes);
      byte[] body = new byte[start.length + middle.length + 2];
      System.arraycopy(start, 0, body, 0, start.length);
      System.arraycopy(middle, 0, body, start.length, middle.length);
      body[body.length - 2] = '"';
      body[body.length - 1] = '}';

      assertThat(refusal(body))
          .isEqualTo("The body is not UTF-8 from byte " + start.length + " on.");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"UTF-16LE", "UTF-16BE", "UTF-16", "UTF-32LE", "UTF-32BE"})
  void no_other_encoding_is_guessed(String charset) {
    assertThat(refusal("{\"t\":\"a\"}".getBytes(Charset.forName(charset))))
        .isEqualTo("The body is not UTF-8 from byte 0 on.");
  }

  @Test
  void utf8_is_read_as_it_is() {
    String text = "aé가😀".repeat(1_000);

    assertThat(
            JsonBody.of(("{\"t\":\"" + text + "\"}").getBytes(StandardCharsets.UTF_8))
                .root()
                .get("t")
                .stringValue())
        .isEqualTo(text);
  }
}
