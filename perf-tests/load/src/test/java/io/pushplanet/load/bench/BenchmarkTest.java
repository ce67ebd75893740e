package io.pushplanet.load.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
}
