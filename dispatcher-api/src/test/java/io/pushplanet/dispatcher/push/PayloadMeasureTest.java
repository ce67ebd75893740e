package io.pushplanet.dispatcher.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.testing.PayloadSample;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PayloadMeasureTest {
  @ParameterizedTest
  @EnumSource
  void a_message_is_measured_as_long_as_the_worker_writes_it(PayloadSample sample) {
    SendRequest request =
        new SendRequest(new Audience.All(), sample.content(), sample.delivery(), Overrides.NONE);

    assertThat(PayloadMeasure.apns(request, ApnsPushType.ALERT)).isEqualTo(sample.apnsBytes());
    assertThat(PayloadMeasure.fcm(request)).isEqualTo(sample.fcmBytes());
    assertThat(PayloadMeasure.hms(request)).isEqualTo(sample.hmsBytes());
    assertThat(PayloadMeasure.mqtt(request)).isEqualTo(sample.mqttBytes());
    assertThat(PayloadMeasure.webPush(request)).isEqualTo(sample.mqttBytes());
  }
}
