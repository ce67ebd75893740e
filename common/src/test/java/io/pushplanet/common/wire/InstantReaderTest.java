package io.pushplanet.common.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InstantReaderTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "2026-11-21T12:00:00Z",
        "2026-11-21T23:59:59.1Z",
        "2026-11-21T12:00:00.123Z",
        "2024-02-29T12:00:00.123456Z",
        "2026-11-21T12:00:00.000000001Z",
        "1969-12-31T23:59:59.999999999Z",
        "0000-01-01T00:00:00Z"
      })
  void the_usual_form_is_read_by_hand_as_the_jdk_reads_it(String text) {
    assertThat(InstantReader.plain(text)).isEqualTo(Instant.parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Z",
        "2026-11-21T12:00:00",
        "2026-11-21T12:00:00.Z",
        "2026-11-21T12:00:00.1234567891Z",
        "2026-11-21T12:00:00,1Z",
        "2026-11-21T24:00:00Z",
        "2026-02-30T12:00:00Z",
        "2026-11-21T12:00:60Z",
        "2026-11-21 12:00:00Z",
        "2026-1x-21T12:00:00Z",
        "-001-11-21T12:00:00Z",
        "2026-11-21T12:00:00.-1Z",
        "2026-11-21T13:00:00+01:00"
      })
  void any_other_form_is_not(String text) {
    assertThat(InstantReader.plain(text)).isNull();
  }

  @Test
  void any_other_form_is_left_to_jackson() {
    assertThat(WireForm.read(json("2026-11-21T13:00:00+01:00"), Instant.class))
        .isEqualTo(Instant.parse("2026-11-21T12:00:00Z"));
    assertThatThrownBy(() -> WireForm.read(json("yesterday"), Instant.class))
        .isInstanceOf(MalformedWire.class);
  }

  private static byte[] json(String text) {
    return ("\"" + text + "\"").getBytes(StandardCharsets.UTF_8);
  }
}
