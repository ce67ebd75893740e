package io.pushplanet.cm.mqtt.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.transport.socket.Poller;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeepAliveTest {
  @ParameterizedTest
  @CsvSource({
    "V5, 1, 60, true",
    "V5, 45, 60, true",
    "V5, 60, 60, false",
    "V5, 300, 300, false",
    "V5, 1800, 1800, false",
    "V5, 3600, 1800, true",
    "V5, 0, 1800, true",
    "V3_1_1, 10, 10, false",
    "V3_1_1, 3600, 3600, false",
    "V3_1_1, 0, 0, false"
  })
  void ntfy_190_ntfy_687_ntfy_1195_a_wish_out_of_range_is_changed_for_clients_that_can_be_told(
      MqttVersion version, int wished, int granted, boolean told) {
    assertThat(KeepAlive.of(version, wished)).isEqualTo(new KeepAlive(granted, told));
  }

  @Test
  void the_kernel_probes_no_device_whose_keep_alive_tells_sooner() {
    assertThat(Poller.KEEP_ALIVE_AFTER)
        .isGreaterThanOrEqualTo(Duration.ofSeconds(KeepAlive.LONGEST * 3 / 2));
  }

  @Test
  void a_silent_client_is_given_up_after_one_and_a_half_times_its_keep_alive() {
    var keepAlive = KeepAlive.of(MqttVersion.V5, 60);
    long heard = Long.MAX_VALUE - 5;

    assertThat(KeepAlive.isOver(keepAlive.seconds(), heard, heard + TimeUnit.SECONDS.toNanos(90)))
        .isFalse();
    assertThat(
            KeepAlive.isOver(keepAlive.seconds(), heard, heard + TimeUnit.SECONDS.toNanos(90) + 1))
        .isTrue();
    assertThat(KeepAlive.isOver(0, 0, Long.MAX_VALUE)).isFalse();
  }
}
