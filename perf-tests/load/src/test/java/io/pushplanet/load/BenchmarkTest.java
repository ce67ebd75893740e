package io.pushplanet.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.load.bench.ShortRun;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchmarkTest {
  @TempDir private Path directory;

  @Test
  void the_help_names_every_benchmark() throws IOException {
    Matcher names =
        Pattern.compile("NAME is one of ([a-z,\\s-]+)\n  \\./pushplanet help")
            .matcher(Files.readString(Path.of("..", "..", "pushplanet")));

    assertThat(names.find()).isTrue();
    assertThat(names.group(1).split(",\\s+"))
        .extracting(name -> Benchmark.named(name).orElseThrow())
        .containsExactlyInAnyOrder(Benchmark.values());
  }

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

  @ParameterizedTest
  @CsvSource({
    "--seconds=0, '--seconds is a whole number from 1 to 9999, not 0'",
    "--seconds=x, '--seconds is a whole number from 1 to 9999, not x'",
    "--clinets=64, accept has no option --clinets"
  })
  void a_wrong_call_is_refused_in_its_first_line(String argument, String told) {
    var complaints = new ByteArrayOutputStream();

    int code =
        Bench.run(
            new String[] {"accept", argument},
            new PrintStream(complaints, true, StandardCharsets.UTF_8));

    assertThat(code).isEqualTo(2);
    assertThat(complaints.toString(StandardCharsets.UTF_8).lines()).first().isEqualTo(told);
  }
}
