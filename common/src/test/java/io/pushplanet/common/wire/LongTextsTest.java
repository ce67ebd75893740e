package io.pushplanet.common.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class LongTextsTest {
  private static final String LETTERS =
      "Your parcel has left https://shop.example/p?id=1&x='2' <b>#~";
  private static final JsonMapper JACKSONS = JsonMapper.shared();

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 127, 128, 850, 9_000})
  void a_plain_text_of_any_length_is_written_as_jackson_writes_it(int length) {
    assertSameAsJackson(plain(length));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"", "\\", "/", "\b", "\t", "\n", "\u0000", "\u001f", "\u007f", "\u0080", "é", "ÿ", "Ā",
        "한", "?", "😀"
      })
  void a_letter_that_needs_an_escape_is_found_at_any_place(String found) {
    for (int length = 64; length <= 73; length++) {
      String text = plain(length);
      for (int at = 0; at <= length; at++) {
        assertSameAsJackson(text.substring(0, at) + found + text.substring(at));
      }
    }
  }

  @Test
  void any_mixture_is_written_as_jackson_writes_it() {
    RandomGenerator dice = RandomGeneratorFactory.of("L64X128MixRandom").create(25);
    for (int run = 0; run < 20_000; run++) {
      StringBuilder text = new StringBuilder(plain(dice.nextInt(60, 200)));
      for (int changes = dice.nextInt(4); changes > 0; changes--) {
        text.setCharAt(dice.nextInt(text.length()), (char) dice.nextInt(0x180));
      }
      assertSameAsJackson(text.toString());
    }
  }

  @Test
  void half_a_surrogate_pair_is_left_to_jackson() {
    assertSameAsJackson(plain(80) + "\ud83d" + plain(80));
    assertSameAsJackson(plain(80) + "\udc00" + plain(80));
  }

  @Test
  void letters_instead_of_bytes_are_left_to_jackson() {
    assertThat(WireForm.mapper().writeValueAsString(plain(100))).isEqualTo('"' + plain(100) + '"');
  }

  /// As a value, in an object and in a tree, beside short texts.
  private static void assertSameAsJackson(String text) {
    Map<String, String> object = Map.of(text, text);
    assertThat(utf8(WireForm.write(text))).isEqualTo(utf8(JACKSONS.writeValueAsBytes(text)));
    assertThat(utf8(WireForm.write(object))).isEqualTo(utf8(JACKSONS.writeValueAsBytes(object)));
    assertThat(utf8(WireForm.write(JACKSONS.valueToTree(object))))
        .isEqualTo(utf8(JACKSONS.writeValueAsBytes(object)));
  }

  private static String plain(int length) {
    return LETTERS.repeat(length / LETTERS.length() + 1).substring(0, length);
  }

  private static String utf8(byte[] json) {
    return new String(json, StandardCharsets.UTF_8);
  }
}
