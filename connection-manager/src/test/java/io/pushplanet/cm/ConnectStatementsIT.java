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
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.session.DeviceKey;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// CONNECT, CONNACK, PINGREQ, DISCONNECT and AUTH, statement by statement. The numbers in the names are MQTT 5.0's, those
/// after `mqtt311` 3.1.1's; CONFORMANCE.md says which belong together. Sessions and wills are in `SessionStatementsIT` and
/// `WillStatementsIT`.
class ConnectStatementsIT extends ConnectScene {
  ConnectStatementsIT(SharedNode at) {
    super(at);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_0_1_what_comes_before_a_connect_ends_the_connection(MqttVersion version)
      throws Exception {
    try (var client = at.raw(version)) {
      client.send(new MqttPacket.PingReq());

      assertThat(client.next()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_0_2_a_second_connect_ends_the_connection(MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      client.send(RawClient.connect(version, device));

      assertThat(SharedNode.end(client)).isEqualTo(told(version, ReasonCode.PROTOCOL_ERROR));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "100D00044D51545804 02003C000161, 1",
    "100E00044D51545805 02003C0000 0161, 132",
    "100D00044D51547405 02003C000161, 132"
  })
  void mqtt_3_1_2_1_another_protocol_name_is_told_that_the_version_is_not_spoken(
      String connect, int code) throws Exception {
    try (var client = at.raw(code == 1 ? MqttVersion.V3_1_1 : MqttVersion.V5)) {
      client.send(HexFormat.of().parseHex(connect.replace(" ", "")));

      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isEqualTo(code);
      assertThat(client.next()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"100D00044D5154540302003C000161, 1", "100D00044D5154540602003C000161, 132"})
  void mqtt_3_1_2_2_another_version_is_told_so(String connect, int code) throws Exception {
    try (var client = at.raw(code == 1 ? MqttVersion.V3_1_1 : MqttVersion.V5)) {
      client.send(HexFormat.of().parseHex(connect));

      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isEqualTo(code);
      assertThat(client.next()).isEmpty();
    }
  }

  // An MQTT 5 client's keep-alive is at least a minute: KeepAliveTest has its sums.
  @Test
  void mqtt_3_1_2_22_a_client_silent_for_one_and_a_half_keep_alives_is_closed() throws Exception {
    try (var client = at.connected(keepAlive(MqttVersion.V3_1_1, 1))) {
      assertThat(client.next()).isEmpty();
    }
  }

  @Test
  void mqtt_3_1_2_24_nothing_exceeds_the_clients_maximum_packet_size() throws Exception {
    try (var client = at.connected(small(80))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      client.publish("elsewhere", "x", QoS.AT_LEAST_ONCE, false);
      assertThat(sizeOf(client.expect(MqttPacket.PubAck.class))).isLessThanOrEqualTo(80);
      client.send(HexFormat.of().parseHex("C100"));
      assertThat(sizeOf(client.expect(MqttPacket.Disconnect.class))).isLessThanOrEqualTo(80);
    }
  }

  @Test
  void mqtt_3_4_2_2_mqtt_3_4_2_3_a_puback_says_nothing_more_where_there_is_no_room()
      throws Exception {
    try (var roomy = at.connected(device, MqttVersion.V5);
        var small = at.connected(of(TestNode.newDevice(), small(80)))) {
      roomy.publish("elsewhere", "x", QoS.AT_LEAST_ONCE, false);
      small.publish("elsewhere", "x", QoS.AT_LEAST_ONCE, false);

      var explained = roomy.expect(MqttPacket.PubAck.class).properties();
      assertThat(explained.text(PropertyId.REASON_STRING)).isPresent();
      assertThat(explained.userProperties()).isEmpty();
      assertThat(small.expect(MqttPacket.PubAck.class).properties().isEmpty()).isTrue();
    }
  }

  @Test
  void mqtt_3_14_2_3_mqtt_3_14_2_4_a_disconnect_says_nothing_more_where_there_is_no_room()
      throws Exception {
    try (var roomy = at.connected(device, MqttVersion.V5);
        var small = at.connected(of(TestNode.newDevice(), small(80)))) {
      roomy.send(HexFormat.of().parseHex("C100"));
      small.send(HexFormat.of().parseHex("C100"));

      var explained = roomy.expect(MqttPacket.Disconnect.class).properties();
      assertThat(explained.text(PropertyId.REASON_STRING)).isPresent();
      assertThat(explained.userProperties()).isEmpty();
      assertThat(small.expect(MqttPacket.Disconnect.class).properties().isEmpty()).isTrue();
    }
  }

  @Test
  void mqtt_3_1_2_24_a_client_that_has_not_even_room_for_a_connack_is_refused_in_five_bytes()
      throws Exception {
    var tiny = MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, 20);
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device, true, tiny));

      var refused = client.expect(MqttPacket.ConnAck.class);

      assertThat(refused.code()).isEqualTo(ReasonCode.PACKET_TOO_LARGE.code());
      assertThat(sizeOf(refused)).isEqualTo(5);
      assertThat(client.next()).isEmpty();
    }
  }

  @Test
  void mqtt_3_2_2_19_a_refusal_keeps_within_the_maximum_packet_size() throws Exception {
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(renamed(small(40), "another"));

      var refused = client.expect(MqttPacket.ConnAck.class);

      assertThat(refused.code()).isEqualTo(0x86);
      assertThat(sizeOf(refused)).isLessThanOrEqualTo(40);
    }
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

  @Test
  void mqtt_3_1_2_29_who_wants_no_problem_information_gets_no_reason_string() throws Exception {
    for (int wanted = 0; wanted <= 1; wanted++) {
      var wish = MqttProperties.with(PropertyId.REQUEST_PROBLEM_INFORMATION, wanted);
      try (var client = at.connected(RawClient.connect(MqttVersion.V5, device, true, wish))) {
        client.publish("elsewhere", "x", QoS.AT_LEAST_ONCE, false);

        var refused = client.expect(MqttPacket.PubAck.class);

        assertThat(refused.reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        assertThat(refused.properties().has(PropertyId.REASON_STRING)).isEqualTo(wanted == 1);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_3_1_the_payload_is_read_in_its_order(MqttVersion version) throws Exception {
    // Client id, will and credential are all found where they belong, or this would be refused.
    try (var client = at.connected(with(version, WILL, MqttProperties.NONE))) {
      SharedNode.silent(client);
    }
    at.awaitGone(device);
    assertThat(at.uplinksOf(device)).containsExactly("gone");
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_3_5_client_ids_of_1_to_23_letters_and_digits_are_taken(MqttVersion version)
      throws Exception {
    for (var id :
        List.of("Z", "0123456789abcdefghijklm", "nopqrstuvwxyzABCDEFGHIJ", "KLMNOPQRSTUVWXYZ")) {
      try (var client = at.connected(new DeviceKey(TestNode.APP, new DeviceId(id)), version)) {
        SharedNode.silent(client);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"V5, 133", "V3_1_1, 2"})
  void mqtt_3_1_3_8_a_client_id_that_is_refused_is_told_and_closed(MqttVersion version, int code)
      throws Exception {
    // An empty one (MQTT-3.1.3-6) belongs to them: this server names nobody.
    for (var id : List.of("", "not/a/device")) {
      try (var client = at.raw(version)) {
        client.send(renamed(RawClient.connect(version, device), id));

        assertThat(client.expect(MqttPacket.ConnAck.class).code()).isEqualTo(code);
        assertThat(client.next()).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_4_1_a_connect_that_does_not_match_the_format_ends_the_connection(
      MqttVersion version) throws Exception {
    try (var client = at.raw(version)) {
      var whole =
          new Connect(
              version, true, 60, "a", "shop", Binary.of("secret"), null, MqttProperties.NONE);
      var bytes = new PacketEncoder().encode(whole, version);
      var shorter = Arrays.copyOf(bytes, bytes.length - 3);
      shorter[1] -= 3;
      client.send(shorter);

      var answer = client.next();

      assertThat(answer.isPresent()).isEqualTo(version == MqttVersion.V5);
      assertThat(client.next()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"V5, 134", "V3_1_1, 4"})
  void mqtt_3_1_4_2_who_is_not_authorized_is_told_and_closed(MqttVersion version, int code)
      throws Exception {
    try (var client = at.raw(version)) {
      client.send(renamed(RawClient.connect(version, device), "another"));

      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isEqualTo(code);
      assertThat(client.next()).isEmpty();
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
      var usual = SharedNode.persistent(device, version);
      client.send(
          new Connect(
              version,
              false,
              60,
              usual.clientId(),
              usual.userName(),
              Binary.of("wrong"),
              null,
              usual.properties()));

      var refused = client.expect(MqttPacket.ConnAck.class);

      assertThat(refused.code()).isNotZero();
      assertThat(refused.sessionPresent()).isFalse();
    }
    // It is there all the same.
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
  void mqtt_3_1_4_6_what_follows_a_refused_connect_is_not_processed(MqttVersion version)
      throws Exception {
    try (var client = at.raw(version)) {
      client.send(
          joined(
              version,
              renamed(RawClient.connect(version, device), "another"),
              new MqttPacket.Publish(
                  "push/uplink",
                  Binary.of("smuggled"),
                  QoS.AT_LEAST_ONCE,
                  false,
                  false,
                  1,
                  MqttProperties.NONE)));

      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isNotZero();
      assertThat(client.next()).isEmpty();
    }
    assertThat(at.uplinksOf(new DeviceKey(TestNode.APP, new DeviceId("another")))).isEmpty();
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

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_12_4_1_a_ping_is_answered(MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      SharedNode.silent(client);
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
      // What is asked behind the error would each have an answer, and the message a PUBLISH.
      client.send(HexFormat.of().parseHex("C100" + "C000" + "C000"));
      at.gateway().send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);

      assertThat(afterMessages(client)).isEqualTo(ReasonCode.MALFORMED_PACKET);
      assertThat(client.next()).isEmpty();
    }
  }

  /// The message may have been the faster one.
  private static ReasonCode afterMessages(RawClient client) throws Exception {
    for (var packet = client.next(); ; packet = client.next()) {
      if (packet.orElseThrow() instanceof MqttPacket.Disconnect(var reason, _)) {
        return reason;
      }
      assertThat(packet.get()).isInstanceOf(MqttPacket.Publish.class);
    }
  }

  @Test
  void mqtt_4_12_0_1_an_authentication_method_is_refused() throws Exception {
    var method = MqttProperties.with(PropertyId.AUTHENTICATION_METHOD, "SCRAM-SHA-256");

    assertThat(refused(RawClient.connect(MqttVersion.V5, device, true, method)))
        .isEqualTo(ReasonCode.BAD_AUTHENTICATION_METHOD.code());
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

  private Connect keepAlive(MqttVersion version, int seconds) {
    var usual = RawClient.connect(version, device);
    return new Connect(
        version,
        true,
        seconds,
        usual.clientId(),
        usual.userName(),
        usual.password(),
        null,
        MqttProperties.NONE);
  }

  /// Of a client that takes no longer packets.
  private Connect small(int bytes) {
    return RawClient.connect(
        MqttVersion.V5, device, true, MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, bytes));
  }

  private static Connect renamed(Connect usual, String clientId) {
    return new Connect(
        usual.version(),
        true,
        60,
        clientId,
        usual.userName(),
        usual.password(),
        null,
        usual.properties());
  }

  private static int sizeOf(MqttPacket packet) {
    return new PacketEncoder().encode(packet, MqttVersion.V5).length;
  }

  private static byte[] joined(MqttVersion version, MqttPacket... packets) {
    var bytes = new ByteArrayOutputStream();
    for (var packet : packets) {
      bytes.writeBytes(new PacketEncoder().encode(packet, version));
    }
    return bytes.toByteArray();
  }

  private static ReasonCode told(MqttVersion version, ReasonCode reason) {
    return version == MqttVersion.V5 ? reason : ReasonCode.SUCCESS;
  }
}
