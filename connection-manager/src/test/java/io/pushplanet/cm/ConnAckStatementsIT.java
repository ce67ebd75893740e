package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// CONNACK: when it comes and what it says, statement by statement (see [ConnectStatementsIT] for
/// the names).
class ConnAckStatementsIT extends ConnectScene {
  ConnAckStatementsIT(SharedNode at) {
    super(at);
  }

  @Test
  void mqtt_3_1_2_28_no_response_information_is_returned() throws Exception {
    for (int asked = 0; asked <= 1; asked++) {
      var wish = MqttProperties.with(PropertyId.REQUEST_RESPONSE_INFORMATION, asked);
      try (var client = at.raw(MqttVersion.V5)) {
        client.send(RawClient.connect(MqttVersion.V5, device, true, wish));

        var welcome = client.expect(MqttPacket.ConnAck.class);

        assertThat(welcome.properties().has(PropertyId.RESPONSE_INFORMATION)).isFalse();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_2_6_a_refusal_says_that_no_session_is_present_also_where_one_is(MqttVersion version)
      throws Exception {
    var first = at.connected(SharedNode.persistent(device, version));
    first.subscribe().expect(MqttPacket.SubAck.class);
    at.leave(first, device);
    try (var client = at.raw(version)) {
      client.send(RawClient.withWrongPassword(SharedNode.persistent(device, version)));

      var refused = client.expect(MqttPacket.ConnAck.class);

      assertThat(refused.code()).isNotZero();
      assertThat(refused.sessionPresent()).isFalse();
    }
    // The session is present all the same.
    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(device, version));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_2_7_after_a_refusal_the_connection_is_closed(MqttVersion version) throws Exception {
    for (var id : List.of("", "another")) {
      try (var client = at.raw(version)) {
        client.send(renamed(RawClient.connect(version, device), id));

        assertThat(client.expect(MqttPacket.ConnAck.class).code()).isNotZero();
        assertThat(client.next()).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_4_5_a_good_connect_is_acknowledged_with_success(MqttVersion version)
      throws Exception {
    try (var client = at.raw(version)) {
      client.send(RawClient.connect(version, device));

      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_0_1_connack_comes_before_everything_else(MqttVersion version) throws Exception {
    try (var client = at.raw(version)) {
      client.send(
          joined(
              version,
              RawClient.connect(version, device),
              new MqttPacket.Subscribe(
                  9,
                  List.of(new SubscriptionRequest("push/messages", QoS.AT_LEAST_ONCE)),
                  MqttProperties.NONE),
              new MqttPacket.PingReq()));

      client.expect(MqttPacket.ConnAck.class);
      client.expect(MqttPacket.SubAck.class);
      client.expect(MqttPacket.PingResp.class);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_0_2_connack_comes_once(MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      SharedNode.silent(client);
    }
  }

  @Test
  void mqtt_3_2_2_8_the_codes_of_refusals_are_connect_reason_codes() throws Exception {
    for (var wrong :
        List.of(
            renamed(RawClient.connect(MqttVersion.V5, device), ""),
            renamed(RawClient.connect(MqttVersion.V5, device), "another"),
            RawClient.connect(
                MqttVersion.V5,
                device,
                true,
                MqttProperties.with(PropertyId.AUTHENTICATION_METHOD, "X")))) {
      try (var client = at.raw(MqttVersion.V5)) {
        client.send(wrong);

        // Table 3-1 of the standard.
        assertThat(client.expect(MqttPacket.ConnAck.class).code())
            .isIn(
                0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x8C, 0x90, 0x95,
                0x97, 0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9F);
      }
    }
  }

  @Test
  void mqtt311_3_2_2_6_a_refusal_without_a_return_code_closes_without_a_connack() throws Exception {
    // The fixed header declares 8,193 bytes, which are too many.
    for (var wrong : List.of("10814000044D51545404", "100D00044D5154540403003C000161")) {
      try (var client = at.raw(MqttVersion.V3_1_1)) {
        client.send(HexFormat.of().parseHex(wrong));

        assertThat(client.next()).isEmpty();
      }
    }
  }

  @Test
  void mqtt_3_2_2_9_connack_says_that_qos_1_is_the_maximum() throws Exception {
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device));

      var told = client.expect(MqttPacket.ConnAck.class).properties();

      assertThat(told.number(PropertyId.MAXIMUM_QOS, 2)).isEqualTo(1);
      assertThat(told.number(PropertyId.RETAIN_AVAILABLE, 1)).isZero();
    }
  }

  @Test
  void mqtt_3_3_2_12_no_topic_alias_is_offered() throws Exception {
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device));

      var told = client.expect(MqttPacket.ConnAck.class).properties();

      assertThat(told.number(PropertyId.TOPIC_ALIAS_MAXIMUM, 0)).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({"10, 60", "120, 0", "4000, 1800", "0, 1800"})
  void mqtt_3_2_2_22_a_keep_alive_is_the_clients_unless_it_is_told_another(int wished, int told)
      throws Exception {
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(keepAlive(MqttVersion.V5, wished));

      var properties = client.expect(MqttPacket.ConnAck.class).properties();

      assertThat(properties.number(PropertyId.SERVER_KEEP_ALIVE, 0)).isEqualTo(told);
    }
  }

  @Test
  void mqtt_4_12_0_6_without_a_method_no_auth_comes_and_connack_names_none() throws Exception {
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device));

      var welcome = client.expect(MqttPacket.ConnAck.class);

      assertThat(welcome.properties().has(PropertyId.AUTHENTICATION_METHOD)).isFalse();
      SharedNode.silent(client);
    }
  }
}
