package io.pushplanet.cm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.mqtt.MqttPacket.ConnAck;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.UserProperty;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Undisturbed;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Refusals by a node that are not due to the CONNECT: the code of either version, then the close.
/// For faulty packets and credentials see `DeviceProfileIT` and the tests of the standards'
/// statements.
class RefusalsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int V3_UNAVAILABLE = 3;
  private static final int SERVER_BUSY = 0x89;
  private static final int SERVER_SHUTTING_DOWN = 0x8B;
  private static final int USE_ANOTHER_SERVER = 0x9C;
  private static final int CONNECTION_RATE_EXCEEDED = 0x9F;

  @Test
  void a_full_node_is_busy_and_says_when_to_come_back() throws Exception {
    try (var full = TestNode.start("--cm.admission.max-sessions=1");
        var here = admitted(full, TestNode.newDevice())) {
      assertRefused(full, SERVER_BUSY, true);
      SharedNode.silent(here);
    }
  }

  @Test
  void mqtt_3_2_2_20_a_refusal_says_nothing_more_where_there_is_no_room() throws Exception {
    try (var full = TestNode.start("--cm.admission.max-sessions=1");
        var here = admitted(full, TestNode.newDevice());
        var small = new RawClient(full.port("mqtt"), MqttVersion.V5)) {
      var most = MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, 40);
      small.send(RawClient.connect(MqttVersion.V5, TestNode.newDevice(), true, most));

      var refused = small.expect(ConnAck.class);

      assertThat(refused.code()).isEqualTo(SERVER_BUSY);
      assertThat(new PacketEncoder().encode(refused, MqttVersion.V5)).hasSizeLessThanOrEqualTo(40);
      SharedNode.silent(here);
    }
  }

  @Test
  void a_leaving_node_shuts_down_and_says_when_to_come_back() throws Exception {
    try (var leaving = TestNode.start()) {
      drain(leaving);

      assertRefused(leaving, SERVER_SHUTTING_DOWN, true);
    }
  }

  @Test
  void a_node_that_knows_of_another_names_it_whether_it_is_full_or_leaving() throws Exception {
    try (var node =
            TestNode.start(
                "--cm.admission.max-sessions=1", "--cm.admission.server-reference=other:1883");
        var here = admitted(node, TestNode.newDevice())) {
      assertThat(assertRefused(node, USE_ANOTHER_SERVER, false).text(PropertyId.SERVER_REFERENCE))
          .hasValue("other:1883");
      // Operators have to hear of it nevertheless.
      var full = node.bean(MeterRegistry.class).get("cm.admission.refused").tag("reason", "full");
      assertThat(full.counter().count()).isEqualTo(2);
      SharedNode.silent(here);

      drain(node);

      assertThat(assertRefused(node, USE_ANOTHER_SERVER, false).text(PropertyId.SERVER_REFERENCE))
          .hasValue("other:1883");
    }
  }

  @Test
  void a_full_node_has_no_address_at_which_others_could_name_it() throws Exception {
    try (var node =
        TestNode.start(
            "--cm.admission.max-sessions=1",
            "--cm.device-host=here.example",
            "--cm.directory.heartbeat-every=50ms")) {
      String address = "here.example:" + node.port("mqtt");
      assertAddresses(node, address);

      try (var here = admitted(node, TestNode.newDevice())) {
        assertAddresses(node);
        SharedNode.silent(here);
      }

      assertAddresses(node, address);
    }
  }

  private static void assertAddresses(TestNode node, String... addresses) {
    var id = node.bean(NodeId.class);
    var directory = node.bean(SessionDirectory.class);
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(directory.nodes())
                .filteredOn(lease -> lease.node().equals(id))
                .singleElement()
                .satisfies(lease ->
                    assertThat(Stream.ofNullable(lease.mqttAddress())).containsExactly(addresses)));
  }

  @Test
  void a_claim_that_finds_the_queue_full_or_waits_too_long_is_told_busy() throws Exception {
    Undisturbed.play(this::standInLine);
  }

  /// The queue moves once in eight seconds here, and no client waits in it for three.
  private void standInLine() throws Exception {
    try (var slow =
            TestNode.start(
                "--cm.directory.together=8s",
                "--cm.directory.claim-within=3s",
                "--cm.directory.waiting=2");
        var first = admitted(slow, TestNode.newDevice())) {
      var waiting = slow.bean(MeterRegistry.class).get("cm.session.registrations.waiting").gauge();
      // A claim counts for a moment after its CONNACK.
      Eventually.within(PATIENCE, () -> assertThat(waiting.value()).isZero());
      try (var young = connecting(slow, MqttVersion.V5);
          var old = connecting(slow, MqttVersion.V3_1_1)) {
        Eventually.within(PATIENCE, () -> assertThat(waiting.value()).isEqualTo(2));

        assertRefused(slow, SERVER_BUSY, true);

        assertThat(waiting.value()).as("it was full, not late").isEqualTo(2);
        assertRefused(young, SERVER_BUSY, true);
        assertRefused(old, V3_UNAVAILABLE, false);
        SharedNode.silent(first);
      }
    }
  }

  /// One failure a second is forgotten.
  @Test
  void an_address_with_too_many_wrong_credentials_is_told_so_and_then_closed_at_the_door()
      throws Exception {
    try (var strict =
        TestNode.start(
            "--cm.admission.address-failures-per-second=1",
            "--cm.admission.unlimited-sources=192.0.2.1")) {
      Undisturbed.play(() -> failTooOften(strict));

      Eventually.within(PATIENCE, () -> admitted(strict, TestNode.newDevice()).close());
    }
  }

  private static void failTooOften(TestNode strict) throws Exception {
    var sockets = new ArrayList<RawClient>();
    try (var young = new RawClient(strict.port("mqtt"), MqttVersion.V5);
        var old = new RawClient(strict.port("mqtt"), MqttVersion.V3_1_1)) {
      // All of them are accepted while the listener is open.
      for (int count = 0; count < 30; count++) {
        sockets.add(new RawClient(strict.port("mqtt"), MqttVersion.V5));
      }
      int code = 0x86;
      for (int count = 0; count < 30 && code == 0x86; count++) {
        code = sockets.get(count).send(RawClient.withWrongPassword()).expect(ConnAck.class).code();
      }
      assertThat(code).isEqualTo(CONNECTION_RATE_EXCEEDED);

      young.send(RawClient.connect(MqttVersion.V5, TestNode.newDevice()));
      old.send(RawClient.connect(MqttVersion.V3_1_1, TestNode.newDevice()));
      assertRefused(young, CONNECTION_RATE_EXCEEDED, true);
      assertRefused(old, V3_UNAVAILABLE, false);

      sockets.add(new RawClient(strict.port("mqtt"), MqttVersion.V5));
      assertThat(sockets.getLast().next()).as("closed without a word").isEmpty();
    } finally {
      for (var socket : sockets) {
        socket.close();
      }
    }
  }

  private static void drain(TestNode node) throws Exception {
    var login = "gateway:" + TestNode.GATEWAY_PASSWORD;
    try (var http = HttpClient.newHttpClient()) {
      var order =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + node.http() + "/node/drain"))
              .header(
                  "Authorization",
                  "Basic " + Base64.getEncoder().encodeToString(login.getBytes(UTF_8)))
              .POST(HttpRequest.BodyPublishers.noBody())
              .build();
      assertThat(http.send(order, BodyHandlers.ofString()).statusCode()).isEqualTo(202);
    }
    var admission = node.bean(Admission.class);
    Eventually.within(PATIENCE, () -> assertThat(admission.isDraining()).isTrue());
  }

  private static RawClient connecting(TestNode to, MqttVersion version) throws Exception {
    var client = new RawClient(to.port("mqtt"), version);
    return client.send(RawClient.connect(version, TestNode.newDevice()));
  }

  private static RawClient admitted(TestNode to, DeviceKey device) throws Exception {
    var client = new RawClient(to.port("mqtt"), MqttVersion.V5);
    client.send(RawClient.connect(MqttVersion.V5, device));
    assertThat(client.expect(ConnAck.class).code()).isZero();
    return client;
  }

  /// Devices of both versions are refused.
  ///
  /// @return the properties that the MQTT 5 client got
  private static MqttProperties assertRefused(TestNode by, int code, boolean later)
      throws Exception {
    try (var young = connecting(by, MqttVersion.V5);
        var old = connecting(by, MqttVersion.V3_1_1)) {
      var told = assertRefused(young, code, later);
      assertRefused(old, V3_UNAVAILABLE, false);
      return told;
    }
  }

  /// @param later whether the client is told when to come back
  private static MqttProperties assertRefused(RawClient client, int code, boolean later)
      throws Exception {
    var refused = client.expect(ConnAck.class);
    assertThat(refused.code()).isEqualTo(code);
    assertThat(refused.sessionPresent()).isFalse();
    assertThat(refused.properties().userProperties())
        .extracting(UserProperty::name)
        .isEqualTo(later ? List.of("retry-after") : List.of());
    assertThat(client.next()).isEmpty();
    return refused.properties();
  }
}
