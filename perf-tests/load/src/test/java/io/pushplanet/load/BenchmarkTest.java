package io.pushplanet.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.load.bench.ShortRun;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchmarkTest {
  @TempDir private Path directory;

  /// Otherwise it would start a platform and measure nothing.
  @ParameterizedTest
  @CsvSource({
    "gateway, parts, 'single,load', 'single,messages,devices,queue,singles'",
    "apns, parts, load, 'speed,distance,faults'",
    "connections, servers, mosquito, 'connection-manager,mosquitto,moquette,hivemq'",
    "faults, providers, gcm, 'apns,fcm,hms,webpush'"
  })
  void an_unknown_option_is_refused_before_the_start(
      String bench, String option, String given, String known) {
    String unknown = given.substring(given.indexOf(',') + 1);

    assertThatThrownBy(() -> ShortRun.of(bench, directory, Map.of(option, given)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("--%s are of %s, not %s".formatted(option, known, unknown));
    assertThat(directory).isEmptyDirectory();
  }

  @ParameterizedTest
  @CsvSource({
    "accept, clients, '64,x', a list of whole numbers from 0 on",
    "accept, clients, -64, a list of whole numbers from 0 on",
    "accept, warm-up, 1m, a whole number",
    "connections, sessions, 5k, a list of whole numbers from 0 on",
    "hostile, packets, 1e6, a whole number",
    "hostile, rate, fast, a number",
    "hostile, seed, x, a whole number"
  })
  void an_option_that_is_no_number_is_refused_by_its_name(
      String bench, String option, String given, String what) {
    assertThatThrownBy(() -> ShortRun.of(bench, directory, Map.of(option, given)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("--%s is %s, not %s".formatted(option, what, given));
    assertThat(directory).isEmptyDirectory();
  }
}
