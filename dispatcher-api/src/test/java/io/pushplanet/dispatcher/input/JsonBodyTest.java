package io.pushplanet.dispatcher.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
  void invalid_utf8_is_refused_at_every_place(String bytes) {
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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''   | The body is empty.",
        "'  ' | The body is empty.",
        "[]   | The body is a JSON array, and must be an object.",
        "\"a\"  | The body is a JSON string, and must be an object.",
        "7    | The body is a JSON number, and must be an object.",
        "true | The body is a JSON boolean, and must be an object.",
        "null | The body is a JSON null, and must be an object.",
      })
  void a_body_that_is_no_object_is_refused_with_its_type(String body, String detail) {
    assertThat(refusal(body.getBytes(StandardCharsets.UTF_8))).isEqualTo(detail);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "{} x",
        "{}{}",
        "{\"a\":NaN}",
        "{\"a\":+1}",
        "{\"a\":01}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{'a':1}",
        "{a:1}",
        "{\"a\":'b'}",
        "{\"a\":\"\u0001\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":1,}",
        "{\"a\":[1,]}",
        "{\"a\":/*b*/1}",
        "{\"a\":1,\"a\":2}",
        "{\"a\" 1}",
        "{\"a\":nul}",
        "\u001f",
      })
  void a_syntax_error_names_its_place_and_not_the_parser(String body) {
    assertThat(refusal(body.getBytes(StandardCharsets.UTF_8)))
        .startsWith("The body is not JSON at line 1, column ")
        .doesNotContain("Feature", "Jackson", "jackson", "`", "enable", "Source", "JsonNode");
  }

  @Test
  void a_body_beyond_a_limit_is_refused_with_the_limit() {
    String deep = "{\"a\":" + "[".repeat(32) + "]".repeat(32) + "}";
    String longNumber = "{\"a\":" + "1".repeat(1_001) + "}";
    String longName = "{\"" + "a".repeat(50_001) + "\":1}";

    for (String body : List.of(deep, longNumber, longName)) {
      assertThat(refusal(body.getBytes(StandardCharsets.UTF_8)))
          .startsWith("The body goes too far")
          .endsWith(
              ": it nests at most 32 deep, names have at most 50,000 characters, numbers 1,000.");
    }
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
