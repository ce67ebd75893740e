package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.testing.Eventually;
import java.util.ArrayList;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Wills: published, delayed, discarded, refused (see [ConnectStatementsIT] for the names).
class WillStatementsIT extends ConnectScene {
  WillStatementsIT(SharedNode at) {
    super(at);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_7_mqtt_3_1_2_8_a_will_is_kept_and_published_without_a_goodbye(MqttVersion version)
      throws Exception {
    at.connected(with(version, WILL, MqttProperties.NONE)).close();
    at.awaitGone(device);

    assertThat(at.uplinksOf(device)).containsExactly("gone");
  }

  @Test
  void mqtt_3_1_3_10_user_properties_of_a_will_are_passed_on_in_their_order() throws Exception {
    at.connected(willWith(MqttProperties.builder().user("c", "3").user("a", "1").user("c", "2")))
        .close();
    at.awaitGone(device);

    assertThat(userPropertiesOfUplinks())
        .containsExactly(Optional.of("[[\"c\",\"3\"],[\"a\",\"1\"],[\"c\",\"2\"]]"));
  }

  @Test
  void mqtt_3_1_3_10_a_delayed_will_has_its_user_properties() throws Exception {
    var first =
        willWith(
            MqttProperties.builder().number(PropertyId.WILL_DELAY_INTERVAL, 3_600).user("a", "1"));
    at.connected(first).close();
    at.awaitGone(device);

    // A clean start ends the session.
    at.leave(at.connected(device, MqttVersion.V5), device);

    assertThat(userPropertiesOfUplinks()).containsExactly(Optional.of("[[\"a\",\"1\"]]"));
  }

  private Connect willWith(MqttProperties.Builder properties) {
    return with(
        MqttVersion.V5,
        new Will("push/uplink", Binary.of("gone"), QoS.AT_LEAST_ONCE, false, properties.build()),
        MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600));
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_10_a_will_that_was_published_is_not_published_with_the_next_connection(
      MqttVersion version) throws Exception {
    at.connected(with(version, WILL, MqttProperties.NONE)).close();
    at.awaitGone(device);
    at.connected(device, version).close();
    at.awaitGone(device);

    assertThat(at.uplinksOf(device)).containsExactly("gone");
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_14_a_will_is_kept_for_no_later_subscriber(MqttVersion version) throws Exception {
    at.connected(with(version, WILL, MqttProperties.NONE)).close();
    at.awaitGone(device);
    assertThat(at.uplinksOf(device)).containsExactly("gone");

    try (var client = at.subscribed(device, version)) {
      SharedNode.silent(client);
    }
  }

  @Test
  void mqtt_3_1_2_8_a_will_with_a_delay_comes_after_it_and_the_session_at_the_latest()
      throws Exception {
    var patient = delayedWill(3_600, 3_600);
    var brief = delayedWill(3_600, 1);
    at.connected(patient).close();
    at.awaitGone(device);
    var other = TestNode.newDevice();
    at.connected(of(other, brief)).close();

    // Published a second later, when the session ends; the other will's delay is not over.
    var tellers = new ArrayList<DeviceId>();
    Eventually.within(
        SharedNode.PATIENCE,
        () -> {
          for (var event : at.node().events()) {
            if (event instanceof DeliveryEvent.Uplink uplink) {
              tellers.add(uplink.device());
            }
          }
          assertThat(tellers).contains(other.device());
        });
    assertThat(tellers).doesNotContain(device.device());
  }

  private Connect delayedWill(int delaySeconds, int expirySeconds) {
    return with(
        MqttVersion.V5,
        new Will(
            "push/uplink",
            Binary.of("gone"),
            QoS.AT_LEAST_ONCE,
            false,
            MqttProperties.with(PropertyId.WILL_DELAY_INTERVAL, delaySeconds)),
        MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, expirySeconds));
  }

  @ParameterizedTest
  @EnumSource(names = {"DISCONNECT_WITH_WILL", "UNSPECIFIED_ERROR"})
  void mqtt_3_1_2_8_a_will_is_published_on_a_disconnect_that_is_no_normal_one(ReasonCode reason)
      throws Exception {
    try (var client = at.connected(with(MqttVersion.V5, WILL, MqttProperties.NONE))) {
      client.send(new MqttPacket.Disconnect(reason, MqttProperties.NONE));
      assertThat(client.next()).isEmpty();
    }
    at.awaitGone(device);

    assertThat(at.uplinksOf(device)).containsExactly("gone");
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_14_4_3_a_goodbye_discards_the_will(MqttVersion version) throws Exception {
    at.leave(at.connected(with(version, WILL, MqttProperties.NONE)), device);

    assertThat(at.uplinksOf(device)).isEmpty();
  }

  @Test
  void mqtt311_3_1_2_12_without_a_will_flag_nothing_is_published() throws Exception {
    at.connected(device, MqttVersion.V3_1_1).close();
    at.awaitGone(device);

    assertThat(at.uplinksOf(device)).isEmpty();
  }

  @Test
  void mqtt_3_2_2_12_a_will_of_qos_2_is_refused() throws Exception {
    var will = new Will("push/uplink", Binary.EMPTY, QoS.EXACTLY_ONCE, false, MqttProperties.NONE);
    assertThat(refused(with(MqttVersion.V5, will, MqttProperties.NONE)))
        .isEqualTo(ReasonCode.QOS_NOT_SUPPORTED.code());
  }

  @Test
  void mqtt_3_1_2_15_mqtt_3_2_2_13_a_will_to_be_retained_is_refused() throws Exception {
    var will = new Will("push/uplink", Binary.EMPTY, QoS.AT_LEAST_ONCE, true, MqttProperties.NONE);
    assertThat(refused(with(MqttVersion.V5, will, MqttProperties.NONE)))
        .isEqualTo(ReasonCode.RETAIN_NOT_SUPPORTED.code());
  }
}
