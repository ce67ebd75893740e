package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.uplink.EventPublisher;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Service;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/// Devices stay connected and nothing acknowledged is lost while a store is away.
@Isolated("it ends the servers that all tests share")
class OutagesIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final LocalServices services = LocalServices.forTests();
  private final DeviceKey device = TestNode.newDevice();
  private TestNode node;

  @BeforeEach
  void start() {
    node = TestNode.start();
  }

  @AfterEach
  void stop() {
    node.close();
  }

  @Test
  void an_uplink_is_acknowledged_only_when_the_broker_is_back_and_has_it() throws Exception {
    var events = node.bean(EventPublisher.class);
    Eventually.within(PATIENCE, () -> assertThat(events.isConnected()).isTrue());
    try (var client = subscribed(device)) {
      services.kill9(Service.AMQP);
      try {
        client.publish("push/uplink", "kept", QoS.AT_LEAST_ONCE, false);
        client.send(new MqttPacket.PingReq());
        // The ping is answered; the publish before it is not acknowledged.
        client.expect(MqttPacket.PingResp.class);
      } finally {
        services.restart(Service.AMQP);
      }
      keepAlive(client);
    }
    assertThat(node.events())
        .anySatisfy(event -> {
          assertThat(event).isInstanceOf(DeliveryEvent.Uplink.class);
          assertThat(((DeliveryEvent.Uplink) event).payload()).isEqualTo(Binary.of("kept").bytes());
        });
  }

  private static void keepAlive(RawClient client) throws Exception {
    client.patience(Duration.ofSeconds(60));
    assertThat(client.expect(MqttPacket.PubAck.class).reason()).isEqualTo(ReasonCode.SUCCESS);
  }

  @Test
  void a_device_that_is_not_read_while_the_broker_is_away_is_not_cut_as_silent() throws Exception {
    try (var slowed = TestNode.start("--cm.uplink.in-flight=2", "--cm.transport.loops=1")) {
      services.kill9(Service.AMQP);
      RawClient client;
      try {
        client = new RawClient(slowed.port("mqtt"), MqttVersion.V3_1_1);
        client.send(connect(MqttVersion.V3_1_1, 2, null));
        uplink(client, 1);
        uplink(client, 2);
        client.expect(MqttPacket.ConnAck.class);
        // The sweep runs once a second, and three seconds of silence would be too long.
        var sweeps = slowed.bean(MeterRegistry.class).get("cm.transport.sweep").timer();
        long before = sweeps.count();
        Eventually.within(
            PATIENCE, () -> assertThat(sweeps.count() - before).isGreaterThanOrEqualTo(5));
      } finally {
        services.restart(Service.AMQP);
      }
      assertThat(client.expect(MqttPacket.PubAck.class).packetId()).isEqualTo(1);
      assertThat(client.expect(MqttPacket.PubAck.class).packetId()).isEqualTo(2);
      client.close();
    }
  }

  @Test
  void a_will_that_is_one_too_many_is_dropped_and_counted_and_the_log_says_so_once()
      throws Exception {
    try (var log = new LogLines(EventPublisher.class);
        var crowded = TestNode.start("--cm.uplink.max-open=1")) {
      services.kill9(Service.AMQP);
      try (var client = new RawClient(crowded.port("mqtt"), MqttVersion.V5)) {
        client.send(RawClient.connect(MqttVersion.V5, TestNode.newDevice()));
        client.expect(MqttPacket.ConnAck.class);
        uplink(client, 1);
        var open = crowded.bean(MeterRegistry.class).get("cm.uplink.events.open").gauge();
        Eventually.within(PATIENCE, () -> assertThat(open.value()).isOne());
        var will =
            new Will(
                "push/uplink", Binary.of("gone"), QoS.AT_LEAST_ONCE, false, MqttProperties.NONE);
        try (var leaving = new RawClient(crowded.port("mqtt"), MqttVersion.V5)) {
          leaving.send(connect(MqttVersion.V5, 60, will));
          leaving.expect(MqttPacket.ConnAck.class);
        }
        var dropped = crowded.bean(MeterRegistry.class).get("cm.uplink.wills.dropped").counter();
        Eventually.within(PATIENCE, () -> assertThat(dropped.count()).isOne());
      } finally {
        services.restart(Service.AMQP);
      }
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(log.said())
                  .containsExactly(
                      "event=events_full open=1 allowed=cm.uplink.max-open",
                      "event=events_flow_again"));
    }
  }

  @Test
  void an_uplink_that_is_one_too_many_is_refused_with_0x97_and_on_3_1_1_by_closing()
      throws Exception {
    try (var crowded = TestNode.start("--cm.uplink.max-open=1")) {
      services.kill9(Service.AMQP);
      RawClient first;
      try {
        first = connected(crowded, MqttVersion.V5);
        uplink(first, 1);
        var open = crowded.bean(MeterRegistry.class).get("cm.uplink.events.open").gauge();
        Eventually.within(PATIENCE, () -> assertThat(open.value()).isOne());
        try (var young = connected(crowded, MqttVersion.V5);
            var old = connected(crowded, MqttVersion.V3_1_1)) {
          uplink(young, 7);
          uplink(old, 7);

          var refused = young.expect(MqttPacket.PubAck.class);
          assertThat(refused.packetId()).isEqualTo(7);
          assertThat(refused.reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
          assertThat(ReasonCode.QUOTA_EXCEEDED.code()).isEqualTo(0x97);
          SharedNode.silent(young);
          assertThat(old.next()).as("3.1.1 has no word for it: closed").isEmpty();
        }
      } finally {
        services.restart(Service.AMQP);
      }
      try (first) {
        assertThat(first.expect(MqttPacket.PubAck.class).reason()).isEqualTo(ReasonCode.SUCCESS);
      }
    }
  }

  private static RawClient connected(TestNode to, MqttVersion version) throws Exception {
    return RawClient.connected(to.port("mqtt"), RawClient.connect(version, TestNode.newDevice()));
  }

  private static void uplink(RawClient client, int packetId) throws Exception {
    client.send(
        new MqttPacket.Publish(
            "push/uplink",
            Binary.of("kept"),
            QoS.AT_LEAST_ONCE,
            false,
            false,
            packetId,
            MqttProperties.NONE));
  }

  private MqttPacket.Connect connect(
      MqttVersion version, int keepAliveSeconds, @Nullable Will will) {
    return new MqttPacket.Connect(
        version,
        true,
        keepAliveSeconds,
        device.device().value(),
        device.app().value(),
        Binary.of(TestNode.credential(device)),
        will,
        MqttProperties.NONE);
  }

  @Test
  void without_redis_sockets_stay_new_devices_come_and_all_are_announced_when_it_returns()
      throws Exception {
    var late = TestNode.newDevice();
    try (var gateway = new TestGateway(node, "gw-outage");
        var before = subscribed(device)) {
      services.kill9(Service.REDIS);
      RawClient during;
      try {
        during = subscribed(late);
        var queue = gateway.send(List.of(device, late), TestNode.newMessage(), "{}", PATIENCE);
        acknowledge(before);
        acknowledge(during);
        for (int count = 0; count < 2; count++) {
          var outcome = queue.poll(60, TimeUnit.SECONDS);
          assertThat(outcome).isNotNull();
          assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
        }
        Eventually.within(
            PATIENCE, () -> assertThat(node.bean(Registrar.class).isReachable()).isFalse());
      } finally {
        services.restart(Service.REDIS);
      }
      var directory = node.bean(SessionDirectory.class);
      Eventually.within(
          PATIENCE,
          () -> assertThat(directory.owners(List.of(device, late))).containsOnlyKeys(device, late));
      during.close();
    }
  }

  @Test
  void without_mysql_a_device_connects_and_its_inbox_comes_when_it_is_back() throws Exception {
    node.park(device, "s", TestNode.newMessage(), "{\"kept\":1}", Duration.ofHours(1));
    services.kill9(Service.MYSQL);
    RawClient client;
    try {
      client = subscribed(device);
      client.send(new MqttPacket.PingReq());
      client.expect(MqttPacket.PingResp.class);
    } finally {
      services.restart(Service.MYSQL);
    }
    client.patience(Duration.ofSeconds(60));
    var publish = client.expect(MqttPacket.Publish.class);
    assertThat(publish.payload()).isEqualTo(Binary.of("{\"kept\":1}"));
    client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
    Eventually.within(PATIENCE, () -> assertThat(node.parked(device)).isZero());
    client.close();
  }

  // The test closes the node in the middle; closing it twice is harmless.
  @SuppressWarnings("try")
  @Test
  void a_node_that_stops_tells_its_devices_and_leaves_the_directory() throws Exception {
    try (var witness = TestNode.start();
        var leaving = TestNode.start("--cm.node-id=leaving")) {
      var client = new RawClient(leaving.port("mqtt"), MqttVersion.V5);
      client.send(RawClient.connect(MqttVersion.V5, device));
      client.expect(MqttPacket.ConnAck.class);
      var directory = witness.bean(SessionDirectory.class);
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(directory.nodes())
                  .anyMatch(lease ->
                      lease.node().value().equals("leaving")
                          && lease.gatewayPort() == leaving.port("gateway")));

      leaving.close();

      assertThat(client.expect(MqttPacket.Disconnect.class).reason())
          .as("the witness takes devices")
          .isEqualTo(ReasonCode.USE_ANOTHER_SERVER);
      assertThat(directory.owner(device)).isEmpty();
      assertThat(directory.nodes()).noneMatch(lease -> lease.node().value().equals("leaving"));
      client.close();
    }
  }

  private static void acknowledge(RawClient client) throws Exception {
    var publish = client.expect(MqttPacket.Publish.class);
    client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS, MqttProperties.NONE));
  }

  private RawClient subscribed(DeviceKey who) throws Exception {
    return RawClient.subscribed(node.port("mqtt"), RawClient.connect(MqttVersion.V5, who));
  }
}
