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
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// CONNECT, CONNACK, PINGREQ, DISCONNECT and AUTH, statement by statement. The numbers in the names are MQTT 5.0's, those
/// after `mqtt311` 3.1.1's; CONFORMANCE.md says which belong together.
@ExtendWith(SharedNode.Resolver.class)
class ConnectStatementsIT {
  private static final List<Integer> NONE = List.of();
  private static final Will WILL =
      new Will("push/uplink", Binary.of("gone"), QoS.AT_LEAST_ONCE, false, MqttProperties.NONE);

  private final SharedNode at;
  private final DeviceKey device = TestNode.newDevice();

  ConnectStatementsIT(SharedNode at) {
    this.at = at;
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

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_4_a_clean_start_discards_the_session(MqttVersion version) throws Exception {
    subscribedAndGone(version);

    try (var client = at.raw(version)) {
      var clean = RawClient.connect(version, device);
      // MQTT-3.2.2-2 as well.
      assertThat(client.send(clean).expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      // The subscription went with the session, so UNSUBSCRIBE finds none.
      assertThat(unsubscribed(client)).isEqualTo(version == MqttVersion.V5 ? List.of(0x11) : NONE);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_5_a_session_is_resumed_with_its_subscription(MqttVersion version)
      throws Exception {
    // Stored after the connection, too: MQTT-3.1.2-23.
    subscribedAndGone(version);

    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(device, version));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      at.gateway().send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);
      SharedNode.acknowledge(client, client.expect(MqttPacket.Publish.class));
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_6_without_a_session_a_new_one_begins(MqttVersion version) throws Exception {
    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(device, version));

      var welcome = client.expect(MqttPacket.ConnAck.class);

      assertThat(welcome.code()).isZero();
      assertThat(welcome.sessionPresent()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_8_a_will_is_published_once_when_the_connection_ends_without_goodbye(
      MqttVersion version) throws Exception {
    // Stored until then (MQTT-3.1.2-7), removed when published (MQTT-3.1.2-10).
    at.connected(with(version, WILL, MqttProperties.NONE)).close();
    at.awaitGone(device);

    assertThat(at.uplinksOf(device)).containsExactly("gone");
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

    // Told a second later, when the session ends; the other one's time has not come.
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

  private static Connect of(DeviceKey other, Connect like) {
    var usual = RawClient.connect(like.version(), other);
    return new Connect(
        like.version(),
        true,
        60,
        usual.clientId(),
        usual.userName(),
        usual.password(),
        like.will(),
        like.properties());
  }

  @Test
  void mqtt_3_1_2_8_a_will_is_published_on_a_disconnect_that_asks_for_it() throws Exception {
    try (var client = at.connected(with(MqttVersion.V5, WILL, MqttProperties.NONE))) {
      client.send(new MqttPacket.Disconnect(ReasonCode.DISCONNECT_WITH_WILL, MqttProperties.NONE));
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

  // An MQTT 5 client's keep-alive is at least a minute: KeepAliveTest has its sums.
  @Test
  void mqtt_3_1_2_22_a_client_silent_for_one_and_a_half_keep_alives_is_closed() throws Exception {
    try (var client = at.connected(keepAlive(MqttVersion.V3_1_1, 1))) {
      assertThat(client.next()).isEmpty();
    }
  }

  @Test
  void mqtt_3_1_2_24_nothing_exceeds_the_clients_maximum_packet_size() throws Exception {
    var small = MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, 80);
    try (var client = at.connected(RawClient.connect(MqttVersion.V5, device, true, small))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      // Refusals that would be explained to a client with more room.
      client.publish("elsewhere", "x", QoS.AT_LEAST_ONCE, false);
      var refused = client.expect(MqttPacket.PubAck.class);
      client.send(HexFormat.of().parseHex("C100"));
      var last = client.expect(MqttPacket.Disconnect.class);

      // MQTT-3.4.2-2 and MQTT-3.14.2-3: the reason string goes first.
      assertThat(sizeOf(refused)).isLessThanOrEqualTo(80);
      assertThat(sizeOf(last)).isLessThanOrEqualTo(80);
      assertThat(refused.properties().isEmpty()).isTrue();
      assertThat(last.properties().isEmpty()).isTrue();
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
    var small = MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, 40);
    try (var client = at.raw(MqttVersion.V5)) {
      var foreign = RawClient.connect(MqttVersion.V5, device, true, small);
      client.send(renamed(foreign, "another"));

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
  void mqtt_3_1_3_2_the_client_id_names_the_session(MqttVersion version) throws Exception {
    subscribedAndGone(version);
    var other = TestNode.newDevice();

    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(other, version));

      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
    }
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

      var refused = client.expect(MqttPacket.ConnAck.class);

      assertThat(refused.code()).isEqualTo(code);
      assertThat(refused.sessionPresent()).as("MQTT-3.2.2-6").isFalse();
      assertThat(client.next()).as("MQTT-3.2.2-7, MQTT-4.13.2-1").isEmpty();
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

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_2_1_the_reserved_flags_of_connack_are_0(MqttVersion version) throws Exception {
    // RawClient's decoder refuses a CONNACK with one of bits 7 to 1; here is one with bit 0.
    subscribedAndGone(version);
    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(device, version));

      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_2_3_session_present_says_whether_there_is_a_session(MqttVersion version)
      throws Exception {
    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(device, version));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      client.subscribe().expect(MqttPacket.SubAck.class);
      at.leave(client, device);
    }
    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(device, version));

      var welcome = client.expect(MqttPacket.ConnAck.class);

      assertThat(welcome.sessionPresent()).isTrue();
      assertThat(welcome.code()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_2_3_a_session_is_present_also_where_nothing_is_subscribed(MqttVersion version)
      throws Exception {
    // Stored after the connection, too: MQTT-3.1.2-23.
    at.leave(at.connected(SharedNode.persistent(device, version)), device);

    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(device, version));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      assertThat(unsubscribed(client)).isEqualTo(version == MqttVersion.V5 ? List.of(0x11) : NONE);
      client.subscribe().expect(MqttPacket.SubAck.class);
      assertThat(unsubscribed(client)).isEqualTo(version == MqttVersion.V5 ? List.of(0) : NONE);
    }
    at.awaitGone(device);
    // The same when the connection before broke, and when it still stands (MQTT-3.1.4-3).
    try (var before = at.raw(version);
        var client = at.raw(version)) {
      before.send(SharedNode.persistent(device, version));
      assertThat(before.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      SharedNode.silent(before);

      client.send(SharedNode.persistent(device, version));

      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      SharedNode.silent(client);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_2_2_a_clean_start_finds_no_session_where_nothing_is_subscribed(MqttVersion version)
      throws Exception {
    at.leave(at.connected(SharedNode.persistent(device, version)), device);

    try (var client = at.raw(version)) {
      client.send(RawClient.connect(version, device));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      at.leave(client, device);
    }
    // It was discarded, not passed over (MQTT-3.1.2-4, MQTT-3.1.2-6).
    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(device, version));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
    }
  }

  private static List<Integer> unsubscribed(RawClient client) throws Exception {
    client.send(new MqttPacket.Unsubscribe(3, List.of("push/messages"), MqttProperties.NONE));
    return client.expect(MqttPacket.UnsubAck.class).codes();
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
  void mqtt_3_2_2_12_a_will_of_qos_2_is_refused() throws Exception {
    var will = new Will("push/uplink", Binary.EMPTY, QoS.EXACTLY_ONCE, false, MqttProperties.NONE);
    assertThat(refused(with(MqttVersion.V5, will, MqttProperties.NONE)))
        .isEqualTo(ReasonCode.QOS_NOT_SUPPORTED.code());
  }

  @Test
  void mqtt_3_2_2_13_a_will_to_be_retained_is_refused() throws Exception {
    var will = new Will("push/uplink", Binary.EMPTY, QoS.AT_LEAST_ONCE, true, MqttProperties.NONE);
    assertThat(refused(with(MqttVersion.V5, will, MqttProperties.NONE)))
        .isEqualTo(ReasonCode.RETAIN_NOT_SUPPORTED.code());
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
  void mqtt_3_14_2_1_the_servers_disconnect_has_a_reason_and_no_session_expiry() throws Exception {
    try (var older = at.connected(device, MqttVersion.V5);
        var newer = at.connected(device, MqttVersion.V5)) {
      var last = older.expect(MqttPacket.Disconnect.class);

      // Table 3-10; MQTT-3.14.2-2; MQTT-3.14.4-1 and MQTT-3.14.4-2: nothing follows but the end.
      assertThat(last.reason()).isEqualTo(ReasonCode.SESSION_TAKEN_OVER);
      assertThat(last.properties().has(PropertyId.SESSION_EXPIRY_INTERVAL)).isFalse();
      assertThat(older.next()).isEmpty();
      SharedNode.silent(newer);
    }
  }

  @Test
  void a_disconnect_cannot_prolong_a_session_that_was_to_end() throws Exception {
    try (var client = at.connected(device, MqttVersion.V5)) {
      client.send(
          new MqttPacket.Disconnect(
              ReasonCode.SUCCESS, MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 60)));

      assertThat(SharedNode.end(client)).isEqualTo(ReasonCode.PROTOCOL_ERROR);
    }
  }

  @Test
  void mqtt_4_1_0_2_a_session_is_discarded_when_its_expiry_has_passed() throws Exception {
    var oneSecond = MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 1);
    try (var client = at.connected(RawClient.connect(MqttVersion.V5, device, false, oneSecond))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      at.leave(client, device);
    }
    try (var redis = io.lettuce.core.RedisClient.create(at.node().services().redis().toString());
        var connection = redis.connect()) {
      Eventually.within(
          SharedNode.PATIENCE,
          () -> assertThat(connection.sync().keys("*" + device.device().value() + "*")).isEmpty());
    }

    try (var client = at.raw(MqttVersion.V5)) {
      client.send(SharedNode.persistent(device, MqttVersion.V5));

      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
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

  private void subscribedAndGone(MqttVersion version) throws Exception {
    var client = at.connected(SharedNode.persistent(device, version));
    client.subscribe().expect(MqttPacket.SubAck.class);
    at.leave(client, device);
  }

  private int refused(Connect connect) throws Exception {
    try (var client = at.raw(connect.version())) {
      int code = client.send(connect).expect(MqttPacket.ConnAck.class).code();
      assertThat(client.next()).isEmpty();
      return code;
    }
  }

  private Connect with(MqttVersion version, @Nullable Will will, MqttProperties properties) {
    var usual = RawClient.connect(version, device);
    return new Connect(
        version, true, 60, usual.clientId(), usual.userName(), usual.password(), will, properties);
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

  private static ReasonCode told(MqttVersion version, ReasonCode reason) {
    return version == MqttVersion.V5 ? reason : ReasonCode.SUCCESS;
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
}
