package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// DISCONNECT of the server, statement by statement (see [ConnectStatementsIT] for the names).
class DisconnectStatementsIT extends ConnectScene {
  DisconnectStatementsIT(SharedNode at) {
    super(at);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_13_2_1_an_error_ends_the_connection_whether_it_can_be_told_or_not(MqttVersion version)
      throws Exception {
    try (var client = at.connected(device, version)) {
      client.publish("push/uplink", "x", QoS.AT_LEAST_ONCE, true);

      assertThat(SharedNode.end(client)).isEqualTo(told(version, ReasonCode.RETAIN_NOT_SUPPORTED));
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_4_3_the_older_connection_of_a_client_is_told_and_closed(MqttVersion version)
      throws Exception {
    try (var older = at.connected(device, version);
        var newer = at.connected(device, version)) {
      assertThat(SharedNode.end(older)).isEqualTo(told(version, ReasonCode.SESSION_TAKEN_OVER));
      SharedNode.silent(newer);
    }
  }

  @Test
  void mqtt_3_14_0_1_before_connack_the_server_sends_no_disconnect() throws Exception {
    for (var first : List.of("C000", "1003000461", "100D00044D5154540503003C000161")) {
      try (var client = at.raw(MqttVersion.V5)) {
        client.send(HexFormat.of().parseHex(first));

        assertThat(client.next())
            .satisfiesAnyOf(
                closed -> assertThat(closed).isEmpty(),
                refused ->
                    assertThat(refused.orElseThrow()).isInstanceOf(MqttPacket.ConnAck.class));
      }
    }
  }

  @Test
  void mqtt_3_14_2_1_the_servers_disconnect_has_a_reason_of_its_table() throws Exception {
    try (var older = at.connected(device, MqttVersion.V5);
        var newer = at.connected(device, MqttVersion.V5)) {
      assertThat(older.expect(MqttPacket.Disconnect.class).reason())
          .isEqualTo(ReasonCode.SESSION_TAKEN_OVER);
      SharedNode.silent(newer);
    }
  }

  @Test
  void mqtt_3_14_2_2_the_servers_disconnect_has_no_session_expiry() throws Exception {
    try (var older = at.connected(SharedNode.persistent(device, MqttVersion.V5));
        var newer = at.connected(SharedNode.persistent(device, MqttVersion.V5))) {
      var last = older.expect(MqttPacket.Disconnect.class);

      assertThat(last.properties().has(PropertyId.SESSION_EXPIRY_INTERVAL)).isFalse();
      SharedNode.silent(newer);
    }
  }

  @Test
  void mqtt_3_14_4_1_mqtt_3_14_4_2_after_its_disconnect_the_server_says_nothing_and_closes()
      throws Exception {
    try (var client = at.subscribed(device, MqttVersion.V5)) {
      // Packets behind the error would each be answered, and the message would be a PUBLISH.
      client.send(HexFormat.of().parseHex("C100" + "C000" + "C000"));
      at.gateway().send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);

      assertThat(afterMessages(client)).isEqualTo(ReasonCode.MALFORMED_PACKET);
      assertThat(client.next()).isEmpty();
    }
  }

  /// The message may have arrived first.
  private static ReasonCode afterMessages(RawClient client) throws Exception {
    for (var packet = client.next(); ; packet = client.next()) {
      if (packet.orElseThrow() instanceof MqttPacket.Disconnect(var reason, _)) {
        return reason;
      }
      assertThat(packet.get()).isInstanceOf(MqttPacket.Publish.class);
    }
  }
}
