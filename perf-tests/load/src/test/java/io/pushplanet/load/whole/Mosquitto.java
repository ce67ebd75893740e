package io.pushplanet.load.whole;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Installed;
import io.pushplanet.quickstart.platform.Addresses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// One device that uses Mosquitto's own command-line clients.
record Mosquitto(Addresses platform, String device, String password) {
  private static final Duration LONGEST = Duration.ofSeconds(120);

  /// A `mosquitto_sub` on its way.
  record Subscriber(Process process) {
    /// The received payloads, one per line, once the subscriber has ended.
    List<String> payloads() throws Exception {
      var output = process.getInputStream().readAllBytes();
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      return new String(output, StandardCharsets.UTF_8).lines().toList();
    }
  }

  /// This device as the audience of a message, in JSON.
  String audience() {
    return "{\"device\":\"" + device + "\"}";
  }

  /// Subscribes until `messages` have come, or `patience` has passed.
  Subscriber subscribe(int messages, Duration patience) throws IOException {
    return new Subscriber(
        start(
            "mosquitto_sub",
            "-t",
            "push/messages",
            "-q",
            "1",
            "-V",
            "mqttv5",
            "-c",
            "-C",
            String.valueOf(messages),
            "-W",
            String.valueOf(patience.toSeconds()),
            "-F",
            "%p"));
  }

  void publish(String topic, String payload) throws Exception {
    var process = start("mosquitto_pub", "-t", topic, "-q", "1", "-m", payload);
    assertThat(process.waitFor(LONGEST.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
  }

  private Process start(String program, String... arguments) throws IOException {
    var command =
        new ArrayList<>(
            List.of(
                Installed.program(program, program.toUpperCase(Locale.ROOT), "mosquitto-clients")
                    .toString(),
                "-h",
                platform.mqttHost(),
                "-p",
                String.valueOf(platform.mqttPort()),
                "-i",
                device,
                "-u",
                platform.app(),
                "-P",
                password));
    command.addAll(Arrays.asList(arguments));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }
}
