package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Sessions are kept, found again, discarded and ended (see [ConnectStatementsIT] for the names).
@Execution(ExecutionMode.CONCURRENT)
class SessionStatementsIT extends ConnectScene {
  private static final List<Integer> NONE = List.of();

  SessionStatementsIT(SharedNode at) {
    super(at);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_4_a_clean_start_discards_the_session(MqttVersion version) throws Exception {
    subscribedAndGone(version);

    try (var client = at.raw(version)) {
      var clean = RawClient.connect(version, device);
      assertThat(client.send(clean).expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      // The subscription ended with the session, so UNSUBSCRIBE finds none.
      assertThat(unsubscribed(client)).isEqualTo(version == MqttVersion.V5 ? List.of(0x11) : NONE);
    }
  }

  /// The older connection has a session with a subscription and a message on its way.
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_4_4_clean_start_is_obeyed_also_while_the_older_connection_lives(MqttVersion version)
      throws Exception {
    try (var older = at.connected(SharedNode.persistent(device, version));
        var newer = at.raw(version)) {
      older.subscribe().expect(MqttPacket.SubAck.class);
      at.gateway().send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);
      older.expect(MqttPacket.Publish.class);

      newer.send(RawClient.connect(version, device));

      assertThat(newer.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      assertThat(unsubscribed(newer)).isEqualTo(version == MqttVersion.V5 ? List.of(0x11) : NONE);
      newer.subscribe().expect(MqttPacket.SubAck.class);
      SharedNode.silent(newer);
    }
  }

  /// The gateway parks what the node has no connection for.
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt311_3_1_2_5_what_came_while_the_client_was_away_comes_without_a_new_subscription(
      MqttVersion version) throws Exception {
    subscribedAndGone(version);
    assertThat(at.gateway().deliver(device, TestNode.newMessage(), "{}").result())
        .isEqualTo(Result.NOT_HERE);
    for (int n = 1; n <= 3; n++) {
      at.node()
          .park(device, "s" + n, TestNode.newMessage(), "{\"n\":" + n + "}", Duration.ofHours(1));
    }

    try (var client = at.connected(SharedNode.persistent(device, version))) {
      for (int n = 1; n <= 3; n++) {
        var publish = client.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of("{\"n\":" + n + "}"));
        assertThat(publish.qos()).isEqualTo(QoS.AT_LEAST_ONCE);
        SharedNode.acknowledge(client, publish);
      }
      Eventually.within(SharedNode.PATIENCE, () -> assertThat(at.node().parked(device)).isZero());
      SharedNode.silent(client);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_5_a_session_is_resumed_with_its_subscription(MqttVersion version)
      throws Exception {
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
  void mqtt_3_1_2_23_mqtt_3_2_2_3_a_session_without_a_subscription_is_kept(MqttVersion version)
      throws Exception {
    at.leave(at.connected(SharedNode.persistent(device, version)), device);

    try (var client = at.raw(version)) {
      client.send(SharedNode.persistent(device, version));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      assertThat(unsubscribed(client)).isEqualTo(version == MqttVersion.V5 ? List.of(0x11) : NONE);
      client.subscribe().expect(MqttPacket.SubAck.class);
      assertThat(unsubscribed(client)).isEqualTo(version == MqttVersion.V5 ? List.of(0) : NONE);
    }
    at.awaitGone(device);
    // The same after the former connection broke, and while it still exists.
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
    // The session was discarded, not only ignored.
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
  void a_disconnect_cannot_prolong_a_session_that_was_to_end() throws Exception {
    try (var client = at.connected(device, MqttVersion.V5)) {
      client.send(
          new MqttPacket.Disconnect(
              ReasonCode.SUCCESS, MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 60)));

      assertThat(SharedNode.end(client)).isEqualTo(ReasonCode.PROTOCOL_ERROR);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_1_0_1_a_session_that_is_not_to_outlive_its_connection_lasts_as_long(
      MqttVersion version) throws Exception {
    try (var client = at.subscribed(device, version)) {
      var sweeps = at.node().bean(MeterRegistry.class).get("cm.transport.sweep").timer();
      long before = sweeps.count();
      Eventually.within(
          SharedNode.PATIENCE, () -> assertThat(sweeps.count()).isGreaterThan(before + 3));

      assertThat(unsubscribed(client)).isEqualTo(version == MqttVersion.V5 ? List.of(0) : NONE);
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

  private void subscribedAndGone(MqttVersion version) throws Exception {
    var client = at.connected(SharedNode.persistent(device, version));
    client.subscribe().expect(MqttPacket.SubAck.class);
    at.leave(client, device);
  }
}
