package io.pushplanet.common.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.PayloadSample;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DevicePayloadTest {
  @ParameterizedTest
  @EnumSource
  void a_payload_is_as_long_as_its_sample(PayloadSample sample) {
    assertThat(DevicePayload.of(sample.push()).getBytes(StandardCharsets.UTF_8))
        .hasSize(sample.mqttBytes());
  }
}
