package io.pushplanet.cm.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import java.security.SecureRandom;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeviceHandshakeTest {
  private final MutableClock clock = MutableClock.started();
  private final DeviceCredential credential =
      new DeviceCredential(MasterKey.parse(MasterKey.generate(new SecureRandom())), clock);
  private final DeviceHandshake handshake =
      new DeviceHandshake(credential, 16, 32, 4608, "push/uplink", 4);
  private final String password =
      credential.mint(new AppId("shop"), new DeviceId("d1"), Duration.ofDays(1));

  @Test
  void a_device_with_its_credential_is_welcome_and_its_wishes_are_bounded() {
    var wishes =
        MqttProperties.builder()
            .number(PropertyId.SESSION_EXPIRY_INTERVAL, 0xFFFF_FFFFL)
            .number(PropertyId.RECEIVE_MAXIMUM, 4)
            .number(PropertyId.MAXIMUM_PACKET_SIZE, 1000)
            .build();

    var outcome = (HandshakeOutcome.Welcome) handshake.check(connect("d1", password, null, wishes));

    assertThat(outcome.device().device().value()).isEqualTo("d1");
    assertThat(outcome.terms().window()).isEqualTo(4);
    assertThat(outcome.terms().largestPacket()).isEqualTo(1000);
    var told = handshake.welcome(outcome);
    assertThat(told.number(PropertyId.SESSION_EXPIRY_INTERVAL, 0)).isEqualTo(2_592_000);
    assertThat(told.number(PropertyId.MAXIMUM_QOS, 2)).isEqualTo(1);
    assertThat(told.number(PropertyId.RETAIN_AVAILABLE, 1)).isZero();
    assertThat(told.number(PropertyId.SERVER_KEEP_ALIVE, 0)).isEqualTo(60);
  }

  @Test
  void countly_5850_a_credential_of_one_app_opens_no_device_of_another() {
    var elsewhere = credential.mint(new AppId("bank"), new DeviceId("d1"), Duration.ofDays(1));

    assertThat(reason(connect("d1", elsewhere, null, MqttProperties.NONE)))
        .isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
  }

  @Test
  void another_devices_credential_an_expired_one_and_none_are_refused() {
    assertThat(reason(connect("d2", password, null, MqttProperties.NONE)))
        .isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
    assertThat(reason(connect("d1", null, null, MqttProperties.NONE)))
        .isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);

    clock.advance(Duration.ofDays(1));

    assertThat(reason(connect("d1", password, null, MqttProperties.NONE)))
        .isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
  }

  @Test
  void a_will_that_could_not_be_kept_is_refused() {
    assertThat(
            reason(connect("d1", password, will("push/uplink", QoS.EXACTLY_ONCE, false), none())))
        .isEqualTo(ReasonCode.QOS_NOT_SUPPORTED);
    assertThat(
            reason(connect("d1", password, will("push/uplink", QoS.AT_LEAST_ONCE, true), none())))
        .isEqualTo(ReasonCode.RETAIN_NOT_SUPPORTED);
    assertThat(reason(connect("d1", password, will("foreign", QoS.AT_LEAST_ONCE, false), none())))
        .isEqualTo(ReasonCode.NOT_AUTHORIZED);
  }

  /// A will becomes an uplink, so `cm.uplink.bytes` bounds it.
  @Test
  void a_will_that_is_longer_than_an_uplink_may_be_is_refused() {
    var longer =
        new Will("push/uplink", Binary.of("gone!"), QoS.AT_LEAST_ONCE, false, MqttProperties.NONE);

    assertThat(handshake.check(connect("d1", password, longer, none())))
        .isEqualTo(
            new HandshakeOutcome.Refused(
                ReasonCode.PACKET_TOO_LARGE, "a will has at most 4 bytes"));
    assertThat(
            handshake.check(
                connect("d1", password, will("push/uplink", QoS.AT_LEAST_ONCE, false), none())))
        .isInstanceOf(HandshakeOutcome.Welcome.class);
  }

  @Test
  void extended_authentication_and_an_empty_client_id_are_refused() {
    assertThat(
            reason(
                connect(
                    "d1",
                    password,
                    null,
                    MqttProperties.with(PropertyId.AUTHENTICATION_METHOD, "SCRAM"))))
        .isEqualTo(ReasonCode.BAD_AUTHENTICATION_METHOD);
    assertThat(reason(connect("", password, null, none())))
        .isEqualTo(ReasonCode.CLIENT_IDENTIFIER_NOT_VALID);
  }

  private ReasonCode reason(Connect connect) {
    return ((HandshakeOutcome.Refused) handshake.check(connect)).reason();
  }

  private static MqttProperties none() {
    return MqttProperties.NONE;
  }

  private static Will will(String topic, QoS qos, boolean retain) {
    return new Will(topic, Binary.of("gone"), qos, retain, MqttProperties.NONE);
  }

  private static Connect connect(
      String clientId, @Nullable String password, @Nullable Will will, MqttProperties properties) {
    return new Connect(
        MqttVersion.V5,
        true,
        30,
        clientId,
        "shop",
        password == null ? null : Binary.of(password),
        will,
        properties);
  }
}
