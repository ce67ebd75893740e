package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

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
import io.pushplanet.common.session.DeviceKey;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.eclipse.paho.client.mqttv3.MqttClient;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.MqttException;
import org.eclipse.paho.client.mqttv3.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// The device profile's refusals, with the exact code on both versions, and what it accepts.
class DeviceProfileIT {
  private static TestNode node;

  private final DeviceKey device = TestNode.newDevice();

  @BeforeAll
  static void start() {
    node = TestNode.start();
  }

  @AfterAll
  static void stop() {
    node.close();
  }

  @ParameterizedTest
  @CsvSource({"'', 2, 133", "foreign, 4, 134", "not/a/device, 2, 133"})
  void a_client_id_that_is_not_the_credentials_device_is_refused(String clientId, int v3, int v5)
      throws Exception {
    assertThat(refused(MqttVersion.V3_1_1, named(MqttVersion.V3_1_1, clientId))).isEqualTo(v3);
    assertThat(refused(MqttVersion.V5, named(MqttVersion.V5, clientId))).isEqualTo(v5);
  }

  @Test
  void stock_clients_learn_that_their_password_is_wrong() throws Exception {
    var old = new MqttClient(node.mqtt(), device.device().value(), new MemoryPersistence());
    var oldOptions = new MqttConnectOptions();
    // Otherwise this client tries MQIsdp after a refusal and reports that answer instead.
    oldOptions.setMqttVersion(MqttConnectOptions.MQTT_VERSION_3_1_1);
    oldOptions.setUserName("shop");
    oldOptions.setPassword("wrong".toCharArray());
    var young =
        new org.eclipse.paho.mqttv5.client.MqttClient(
            node.mqtt(),
            device.device().value(),
            new org.eclipse.paho.mqttv5.client.persist.MemoryPersistence());
    var youngOptions = new MqttConnectionOptions();
    youngOptions.setUserName("shop");
    youngOptions.setPassword("wrong".getBytes(StandardCharsets.UTF_8));

    var refusedOld = catchThrowableOfType(MqttException.class, () -> old.connect(oldOptions));
    var refusedYoung =
        catchThrowableOfType(
            org.eclipse.paho.mqttv5.common.MqttException.class, () -> young.connect(youngOptions));

    assertThat(refusedOld.getReasonCode()).isEqualTo(4);
    assertThat(refusedYoung.getReasonCode()).isEqualTo(0x86);
    old.close();
    young.close();
  }

  @Test
  void an_expired_credential_and_none_at_all_are_refused() throws Exception {
    for (var version : MqttVersion.values()) {
      var expired = TestNode.credential(device, Duration.ofSeconds(-1));
      int wanted = version == MqttVersion.V5 ? 0x86 : 4;

      assertThat(refused(version, with(version, Binary.of(expired), null))).isEqualTo(wanted);
      assertThat(refused(version, with(version, null, null))).isEqualTo(wanted);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "push/uplink, EXACTLY_ONCE, false, 155",
    "push/uplink, AT_LEAST_ONCE, true, 154",
    "elsewhere, AT_LEAST_ONCE, false, 135"
  })
  void a_will_with_qos_2_retained_or_elsewhere_is_refused(
      String topic, QoS qos, boolean retain, int v5) throws Exception {
    var will = new Will(topic, Binary.of("x"), qos, retain, MqttProperties.NONE);
    var password = Binary.of(TestNode.credential(device));

    assertThat(refused(MqttVersion.V5, with(MqttVersion.V5, password, will))).isEqualTo(v5);
    assertThat(refused(MqttVersion.V3_1_1, with(MqttVersion.V3_1_1, password, will))).isEqualTo(5);
  }

  @Test
  void mqisdp_and_versions_to_come_are_told_so() throws Exception {
    try (var old = new RawClient(node.port("mqtt"), MqttVersion.V3_1_1);
        var next = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      old.send(HexFormat.of().parseHex("100F00064D51497364700302003C0001" + "61"));
      next.send(HexFormat.of().parseHex("100D00044D5154540602003C000161"));

      assertThat(old.expect(MqttPacket.ConnAck.class).code()).isEqualTo(1);
      assertThat(next.expect(MqttPacket.ConnAck.class).code()).isEqualTo(0x84);
      assertThat(old.next()).isEmpty();
      assertThat(next.next()).isEmpty();
    }
  }

  @Test
  void extended_authentication_is_refused() throws Exception {
    var method = MqttProperties.with(PropertyId.AUTHENTICATION_METHOD, "SCRAM-SHA-256");

    assertThat(refused(MqttVersion.V5, RawClient.connect(MqttVersion.V5, device, true, method)))
        .isEqualTo(0x8C);
  }

  @Test
  void connack_tells_mqtt_5_clients_which_features_are_missing() throws Exception {
    try (var client = connected(MqttVersion.V5, 10)) {
      var told = client.welcome.properties();

      assertThat(told.number(PropertyId.MAXIMUM_QOS, 2)).isEqualTo(1);
      assertThat(told.number(PropertyId.RETAIN_AVAILABLE, 1)).isZero();
      assertThat(told.number(PropertyId.WILDCARD_SUBSCRIPTION_AVAILABLE, 1)).isZero();
      assertThat(told.number(PropertyId.SHARED_SUBSCRIPTION_AVAILABLE, 1)).isZero();
      assertThat(told.number(PropertyId.SERVER_KEEP_ALIVE, 0)).isEqualTo(60);
      assertThat(client.welcome.sessionPresent()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void only_push_messages_can_be_subscribed_and_qos_2_becomes_1(MqttVersion version)
      throws Exception {
    boolean v5 = version == MqttVersion.V5;
    try (var client = connected(version, 60)) {
      client.raw.send(
          new MqttPacket.Subscribe(
              9,
              List.of(
                  new SubscriptionRequest("push/messages", QoS.EXACTLY_ONCE),
                  new SubscriptionRequest("$share/g/push/messages", QoS.AT_LEAST_ONCE),
                  new SubscriptionRequest("push/#", QoS.AT_LEAST_ONCE),
                  new SubscriptionRequest("push/+", QoS.AT_LEAST_ONCE),
                  new SubscriptionRequest("push/messages/d2", QoS.AT_LEAST_ONCE)),
              MqttProperties.NONE));

      var granted = client.raw.expect(MqttPacket.SubAck.class);

      assertThat(granted.packetId()).isEqualTo(9);
      assertThat(granted.codes())
          .isEqualTo(v5 ? List.of(1, 0x9E, 0xA2, 0xA2, 0x87) : List.of(1, 0x80, 0x80, 0x80, 0x80));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "push/uplink, AT_LEAST_ONCE, true, 10, RETAIN_NOT_SUPPORTED",
    "push/uplink, EXACTLY_ONCE, false, 10, QOS_NOT_SUPPORTED",
    "push/uplink, AT_LEAST_ONCE, false, 4097, PACKET_TOO_LARGE",
    "push/uplink, AT_LEAST_ONCE, false, 9000, PACKET_TOO_LARGE",
    "push/messages, AT_MOST_ONCE, false, 10, NOT_AUTHORIZED"
  })
  void a_publish_against_the_profile_ends_the_connection(
      String topic, QoS qos, boolean retain, int bytes, ReasonCode reason) throws Exception {
    try (var young = connected(MqttVersion.V5, 60);
        var old = connected(TestNode.newDevice(), MqttVersion.V3_1_1, 60)) {
      young.raw.publish(topic, "x".repeat(bytes), qos, retain);
      old.raw.publish(topic, "x".repeat(bytes), qos, retain);

      assertThat(young.raw.expect(MqttPacket.Disconnect.class).reason()).isEqualTo(reason);
      assertThat(young.raw.next()).isEmpty();
      assertThat(old.raw.next()).isEmpty();
    }
  }

  @Test
  void a_foreign_topic_or_a_broken_receipt_at_qos_1_is_refused_alone() throws Exception {
    try (var client = connected(MqttVersion.V5, 60)) {
      client.raw.publish("apps/other", "x", QoS.AT_LEAST_ONCE, false);
      assertThat(client.raw.expect(MqttPacket.PubAck.class).reason())
          .isEqualTo(ReasonCode.NOT_AUTHORIZED);
      client.raw.publish("push/receipts", "{\"id\":1}", QoS.AT_LEAST_ONCE, false);
      assertThat(client.raw.expect(MqttPacket.PubAck.class).reason())
          .isEqualTo(ReasonCode.PAYLOAD_FORMAT_INVALID);
      client.raw.publish(
          "push/receipts",
          "{\"id\":\"ffffffff-ffff-7fff-8fff-ffffffffffff\",\"event\":\"opened\"}",
          QoS.AT_LEAST_ONCE,
          false);
      assertThat(client.raw.expect(MqttPacket.PubAck.class).reason())
          .isEqualTo(ReasonCode.PAYLOAD_FORMAT_INVALID);

      client.raw.send(new MqttPacket.PingReq());
      client.raw.expect(MqttPacket.PingResp.class);
    }
  }

  @Test
  void an_uplink_of_exactly_4096_bytes_is_taken() throws Exception {
    try (var client = connected(MqttVersion.V5, 60)) {
      client.raw.publish("push/uplink", "x".repeat(4096), QoS.AT_LEAST_ONCE, false);

      assertThat(client.raw.expect(MqttPacket.PubAck.class).reason()).isEqualTo(ReasonCode.SUCCESS);
    }
  }

  @Test
  void protocol_errors_after_connect_are_named() throws Exception {
    var errors =
        List.of(
            new PacketCase("C1 00", ReasonCode.MALFORMED_PACKET),
            new PacketCase("50 02 00 01", ReasonCode.PROTOCOL_ERROR),
            new PacketCase("20 03 00 00 00", ReasonCode.PROTOCOL_ERROR),
            new PacketCase("30 FF FF FF 7F", ReasonCode.PACKET_TOO_LARGE),
            new PacketCase("30 04 00 02 C3 28", ReasonCode.MALFORMED_PACKET));
    for (var error : errors) {
      try (var client = connected(MqttVersion.V5, 60)) {
        client.raw.send(HexFormat.ofDelimiter(" ").parseHex(error.hex()));

        assertThat(client.raw.expect(MqttPacket.Disconnect.class).reason())
            .as(error.hex())
            .isEqualTo(error.reason());
        assertThat(client.raw.next()).isEmpty();
      }
    }
  }

  private record PacketCase(String hex, ReasonCode reason) {}

  @Test
  void a_gateway_with_the_wrong_password_is_refused() throws Exception {
    try (var client = new RawClient(node.port("gateway"), MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device));

      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isEqualTo(0x86);
      assertThat(client.next()).isEmpty();
    }
  }

  @Test
  void health_and_metrics_tell_of_the_node() throws Exception {
    var health = get("/actuator/health/readiness");
    assertThat(health).contains("\"status\":\"UP\"");
    assertThat(get("/actuator/health")).contains("\"redis\":\"reachable\"").contains("listeners");
    assertThat(get("/actuator/prometheus"))
        .contains("cm_sessions")
        .contains("cm_transport_loop_lag")
        .contains("cm_admission_refused_total");
    assertThat(page()).contains("\"node\":");
  }

  private static String page() throws Exception {
    return get("/node");
  }

  private static String get(String path) throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      return http.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + node.http() + path)).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }

  private record Connected(RawClient raw, MqttPacket.ConnAck welcome) implements AutoCloseable {
    @Override
    public void close() throws java.io.IOException {
      raw.close();
    }
  }

  private Connected connected(MqttVersion version, int keepAlive) throws Exception {
    return connected(device, version, keepAlive);
  }

  private static Connected connected(DeviceKey key, MqttVersion version, int keepAlive)
      throws Exception {
    var raw = new RawClient(node.port("mqtt"), version);
    var usual = RawClient.connect(version, key);
    raw.send(
        new Connect(
            version,
            true,
            keepAlive,
            usual.clientId(),
            usual.userName(),
            usual.password(),
            null,
            MqttProperties.NONE));
    return new Connected(raw, raw.expect(MqttPacket.ConnAck.class));
  }

  private int refused(MqttVersion version, Connect connect) throws Exception {
    try (var client = new RawClient(node.port("mqtt"), version)) {
      int code = client.send(connect).expect(MqttPacket.ConnAck.class).code();
      assertThat(client.next()).isEmpty();
      return code;
    }
  }

  private Connect named(MqttVersion version, String clientId) {
    return new Connect(
        version,
        true,
        60,
        clientId,
        "shop",
        Binary.of(TestNode.credential(device)),
        null,
        MqttProperties.NONE);
  }

  private Connect with(MqttVersion version, @Nullable Binary password, @Nullable Will will) {
    return new Connect(
        version, true, 60, device.device().value(), "shop", password, will, MqttProperties.NONE);
  }
}
