package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class NodePageIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void a_node_reports_its_figures() throws Exception {
    var device = TestNode.newDevice();
    var stranger = TestNode.newDevice();
    try (var node = TestNode.start();
        var gateway = new TestGateway(node, "gw-numbers");
        var client = new RawClient(node.port("mqtt"), MqttVersion.V5);
        var liar = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device));
      client.expect(MqttPacket.ConnAck.class);
      client.subscribe().expect(MqttPacket.SubAck.class);
      var honest = RawClient.connect(MqttVersion.V5, device);
      liar.send(
          new MqttPacket.Connect(
              MqttVersion.V5,
              true,
              60,
              stranger.device().value(),
              honest.userName(),
              honest.password(),
              null,
              honest.properties()));
      liar.expect(MqttPacket.ConnAck.class);
      var answers =
          gateway.send(
              List.of(device, stranger), TestNode.newMessage(), "{}", Duration.ofSeconds(20));
      var publish = client.expect(MqttPacket.Publish.class);
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));

      Eventually.within(
          PATIENCE,
          () -> {
            assertThat(answers).hasSize(2);
            var page = page(node);
            var numbers = page.path("numbers");
            assertThat(page.path("sessions").intValue()).isEqualTo(1);
            assertThat(numbers.path("connected").intValue()).isEqualTo(1);
            assertThat(numbers.path("refused").path("bad_user_name_or_password").intValue())
                .isEqualTo(1);
            assertThat(numbers.path("published").intValue()).isEqualTo(1);
            assertThat(numbers.path("in_flight").intValue()).isZero();
            for (var times : List.of("connect", "publish_to_write", "publish_to_ack")) {
              assertThat(numbers.path(times).path("count").intValue()).as(times).isEqualTo(1);
              assertThat(numbers.path(times).path("max_millis").doubleValue())
                  .as(times)
                  .isPositive();
            }
            assertThat(numbers.path("publish_to_ack").path("p99_millis").doubleValue())
                .isPositive();
            assertThat(numbers.path("loop_lag").path("count").intValue()).isPositive();
            assertThat(numbers.path("sweep").path("count").intValue()).isPositive();
            assertThat(numbers.path("bytes_per_session").isNull()).as("too few to tell").isTrue();
          });
    }
  }

  @Test
  void a_node_reports_redeliveries_dead_paths_and_lost_devices() throws Exception {
    var moving = TestNode.newDevice();
    var silent = TestNode.newDevice();
    try (var node = TestNode.start("--cm.keep-alive.dead-path-after=3s");
        var other = TestNode.start();
        var gateway = new TestGateway(node, "gw-numbers")) {
      try (var first = persistent(node, moving)) {
        first.subscribe().expect(MqttPacket.SubAck.class);
        gateway.send(List.of(moving), TestNode.newMessage(), "{}", PATIENCE);
        first.expect(MqttPacket.Publish.class);
      }
      try (var again = persistent(node, moving)) {
        var publish = again.expect(MqttPacket.Publish.class);
        assertThat(publish.duplicate()).isTrue();
        again.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
        try (var elsewhere = persistent(other, moving);
            var mute = persistent(node, silent)) {
          mute.subscribe().expect(MqttPacket.SubAck.class);
          gateway.send(List.of(silent), TestNode.newMessage(), "{}", PATIENCE);
          mute.expect(MqttPacket.Publish.class);
          elsewhere.send(new MqttPacket.PingReq()).expect(MqttPacket.PingResp.class);

          Eventually.within(
              PATIENCE,
              () -> {
                var numbers = page(node).path("numbers");
                assertThat(numbers.path("redelivered").intValue()).as("redelivered").isPositive();
                assertThat(numbers.path("fenced").intValue()).as("fenced").isPositive();
                assertThat(numbers.path("dead_paths").intValue()).as("dead paths").isPositive();
                assertThat(numbers.path("dropped").path("not_here").intValue())
                    .as("dropped")
                    .isPositive();
                assertThat(numbers.path("takeover").path("count").intValue())
                    .as("it took over none")
                    .isZero();
                var takeover = page(other).path("numbers").path("takeover");
                assertThat(takeover.path("count").intValue()).as("takeovers").isOne();
                assertThat(takeover.path("max_millis").doubleValue())
                    .as("takeover")
                    .isBetween(0.01, 60_000.0);
              });
        }
      }
    }
  }

  @Test
  void a_node_with_enough_devices_reports_its_heap_per_device() throws Exception {
    try (var node = TestNode.start()) {
      System.gc();
      var collected = node.bean(MeterRegistry.class).get("cm.heap.after.collection").gauge();
      Eventually.within(PATIENCE, () -> assertThat(collected.value()).isPositive());
      try (var devices = IdleDevices.start(node.port("mqtt"), false)) {
        devices.connect(1_100);

        Eventually.within(
            PATIENCE,
            () -> {
              System.gc();
              var perSession = page(node).path("numbers").path("bytes_per_session");
              assertThat(perSession.isNumber()).isTrue();
              assertThat(perSession.intValue()).isLessThan(100_000);
            });
        assertThat(get(node, "/actuator/prometheus"))
            .containsPattern("(?m)^cm_session_heap_bytes\\{[^}]*\\} [0-9]");
      }
    }
  }

  private static RawClient persistent(TestNode node, DeviceKey device) throws Exception {
    var client = new RawClient(node.port("mqtt"), MqttVersion.V5);
    var hour = MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600);
    client.send(RawClient.connect(MqttVersion.V5, device, false, hour));
    assertThat(client.expect(MqttPacket.ConnAck.class).code()).isZero();
    return client;
  }

  private JsonNode page(TestNode node) throws Exception {
    return JsonMapper.shared().readTree(get(node, "/node"));
  }

  private String get(TestNode node, String path) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + node.http() + path)).build();
    return http.send(request, BodyHandlers.ofString()).body();
  }
}
