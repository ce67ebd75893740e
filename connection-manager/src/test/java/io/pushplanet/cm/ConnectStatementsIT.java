package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// CONNECT, PINGREQ and AUTH, statement by statement. The numbers in the names are MQTT 5.0's,
/// those after `mqtt311` 3.1.1's; CONFORMANCE.md says which belong together. What the server
/// answers is in `ConnAckStatementsIT`, sessions and wills are in `SessionStatementsIT` and
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

  /// An MQTT 5 client's keep-alive is at least a minute.
  @Test
  void mqtt_3_1_2_22_a_client_silent_for_one_and_a_half_keep_alives_is_closed_and_no_sooner()
      throws Exception {
    var meters = at.node().bean(MeterRegistry.class);
    double before = keepAliveTimeouts(meters);
    var second = keepAlive(MqttVersion.V3_1_1, 1);
    try (var chatty = at.connected(of(TestNode.newDevice(), second))) {
      long beganNanos = System.nanoTime();
      try (var silent = at.connected(second)) {
        var end = new FutureTask<>(silent::next);
        Thread.ofVirtual().start(end);

        while (!end.isDone()) {
          SharedNode.silent(chatty);
        }

        assertThat(end.get()).as("a 3.1.1 client is told nothing").isEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - beganNanos))
            .isGreaterThan(Duration.ofMillis(1_500));
        assertThat(keepAliveTimeouts(meters)).isGreaterThan(before);
      }
      SharedNode.silent(chatty);
    }
  }

  private static double keepAliveTimeouts(MeterRegistry meters) {
    return meters.get("cm.admission.refused").tag("reason", "keep_alive_timeout").counter().count();
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_3_1_the_payload_is_read_in_its_order(MqttVersion version) throws Exception {
    // Client id, will and credential are all found at their places, otherwise the CONNECT would be
    // refused.
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
    // An empty client id (MQTT-3.1.3-6) is refused, too: this server assigns none.
    for (var id : List.of("", "not/a/device")) {
      for (boolean clean : new boolean[] {true, false}) {
        try (var client = at.raw(version)) {
          client.send(
              new Connect(
                  version,
                  clean,
                  60,
                  id,
                  TestNode.APP.value(),
                  Binary.of(TestNode.credential(device)),
                  null,
                  MqttProperties.NONE));

          assertThat(client.expect(MqttPacket.ConnAck.class).code()).isEqualTo(code);
          assertThat(client.next()).isEmpty();
        }
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
  void mqtt_3_1_4_2_an_unauthorized_client_is_told_and_closed(MqttVersion version, int code)
      throws Exception {
    try (var client = at.raw(version)) {
      client.send(renamed(RawClient.connect(version, device), "another"));

      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isEqualTo(code);
      assertThat(client.next()).isEmpty();
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
  void mqtt_3_12_4_1_a_ping_is_answered(MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      SharedNode.silent(client);
    }
  }

  @Test
  void mqtt_4_12_0_1_an_authentication_method_is_refused() throws Exception {
    var method = MqttProperties.with(PropertyId.AUTHENTICATION_METHOD, "SCRAM-SHA-256");

    assertThat(refused(RawClient.connect(MqttVersion.V5, device, true, method)))
        .isEqualTo(ReasonCode.BAD_AUTHENTICATION_METHOD.code());
  }
}
