package io.pushplanet.common.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DurationReaderTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "PT0S",
        "PT5S",
        "PT1M",
        "PT90S",
        "PT1H1S",
        "PT72H",
        "PT672H59M59S",
        "PT0H0M0S",
        "PT9999999999999S"
      })
  void whole_seconds_are_read_by_hand_as_the_jdk_reads_them(String text) {
    assertThat(DurationReader.plain(text)).isEqualTo(Duration.parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "P",
        "PT",
        "PT5",
        "PTS",
        "PT5S6",
        "PT5S5S",
        "PT5S1H",
        "PT1H5",
        "PT1HM",
        "PT5s",
        "pt5S",
        "PT1.5S",
        "PT-5S",
        "-PT5S",
        "PT+5S",
        "P1D",
        "P1DT5S",
        "PT 5S",
        "PT\u0665S",
        "PT99999999999999S"
      })
  void any_other_form_is_not(String text) {
    assertThat(DurationReader.plain(text)).isNull();
  }

  @Test
  void any_other_form_is_left_to_jackson() {
    assertThat(WireForm.read(json("\"P1DT1.5S\""), Duration.class))
        .isEqualTo(Duration.ofMillis(86_401_500));
    assertThatThrownBy(() -> WireForm.read(json("\"PT5S5S\""), Duration.class))
        .isInstanceOf(MalformedWire.class);
  }

  private static byte[] json(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
