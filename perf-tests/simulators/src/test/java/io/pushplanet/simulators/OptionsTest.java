package io.pushplanet.simulators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OptionsTest {
  @Test
  void every_port_is_free_by_default_and_stays_on_this_machine() {
    Options options = Options.of();

    assertThat(options)
        .isEqualTo(
            new Options(
                0,
                0,
                0,
                0,
                0,
                0,
                Path.of("simulators"),
                false,
                Duration.ofMinutes(20),
                "localhost"));
  }

  @Test
  void each_option_is_read() {
    Options options =
        Options.of(
            "--apns-port=1",
            "--apns-sandbox-port=2",
            "--fcm-port=3",
            "--webpush-port=4",
            "--hms-port=6",
            "--management-port=5",
            "--state=/tmp/s",
            "--strict-tokens",
            "--apns-token-renewal=PT1M",
            "--host=0.0.0.0");

    assertThat(options)
        .isEqualTo(
            new Options(
                1, 2, 3, 4, 6, 5, Path.of("/tmp/s"), true, Duration.ofMinutes(1), "0.0.0.0"));
  }

  @Test
  void a_misspelt_option_and_an_impossible_port_are_refused_by_name() {
    assertThatThrownBy(() -> Options.of("--apn-port=1")).hasMessageContaining("--apn-port");
    assertThatThrownBy(() -> Options.of("--fcm-port=65536")).hasMessageContaining("65536");
    assertThatThrownBy(() -> Options.of("--fcm-port=x")).hasMessageContaining("--fcm-port=x");
  }

  @Test
  void a_value_that_is_missing_needless_or_no_duration_is_refused() {
    assertThatThrownBy(() -> Options.of("--strict-tokens=false"))
        .hasMessage("--strict-tokens takes no value");
    assertThatThrownBy(() -> Options.of("--state")).hasMessage("--state needs a value");
    assertThatThrownBy(() -> Options.of("--apns-token-renewal=x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("\"x\" is no duration: 500ms, 10s, PT1M");
  }
}
