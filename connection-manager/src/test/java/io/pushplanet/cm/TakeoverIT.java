package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Handovers;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.quickstart.services.Service;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// One device and several nodes. The nodes compare with the directory only once an hour, so no
/// takeover depends on the comparison.
@Isolated("it empties and ends the Redis that all tests share")
class TakeoverIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String RARELY = "--cm.directory.verify-every=1h";
  private static final String PATIENTLY = "--cm.directory.former-within=60s";
  private static TestNode first;
  private static TestNode second;
  private static TestGateway gateway;

  private final DeviceKey device = TestNode.newDevice();

  @BeforeAll
  static void start() throws Exception {
    first = TestNode.start("--cm.node-id=takeover-a", RARELY, PATIENTLY);
    second = TestNode.start("--cm.node-id=takeover-b", RARELY, PATIENTLY);
    gateway = new TestGateway(first, "gw-takeover");
  }

  /// Waits until Redis is usable: for a node whose call waited for two seconds the directory is
  /// away, and its claims return no former session; a node that sent no command while Redis was
  /// away does not know that it was; and a claim does not wait for a node that has not subscribed
  /// again yet.
  @BeforeEach
  void bothNodesReachTheDirectory() {
    Eventually.within(
        PATIENCE,
        () -> {
          for (var node : List.of(first, second)) {
            assertThat(node.bean(SessionDirectory.class).owner(TestNode.newDevice())).isEmpty();
            assertThat(node.bean(Registrar.class).isReachable()).isTrue();
          }
          var redis = first.bean(RedisLink.class).connection().sync();
          assertThat(redis.pubsubNumsub("takeover:takeover-a", "takeover:takeover-b").values())
              .containsExactly(1L, 1L);
        });
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    second.close();
    first.close();
  }

  @Test
  void rabbitmq_mqtt_91_the_former_node_releases_a_device_that_is_on_two_nodes() throws Exception {
    try (var here = subscribed(first.port("mqtt"));
        var there = subscribed(second.port("mqtt"))) {
      assertThat(here.expect(MqttPacket.Disconnect.class).reason())
          .isEqualTo(ReasonCode.SESSION_TAKEN_OVER);
      assertThat(here.next()).isEmpty();
      var owner = first.bean(SessionDirectory.class).owner(device);
      assertThat(owner).map(SessionOwner::node).contains(new NodeId("takeover-b"));
      assertThat(gateway.deliver(device, TestNode.newMessage(), "{}").result())
          .isEqualTo(Result.NOT_HERE);
      assertAlive(there);
    }
  }

  /// Moves the device back and forth, because the former node may be quick by chance.
  @Test
  void a_device_is_admitted_once_the_former_node_has_released_it() throws Exception {
    var nodes = List.of(first, second);
    var clients = new ArrayList<RawClient>();
    try {
      for (int round = 0; round < 20; round++) {
        var client = new RawClient(nodes.get(round % 2).port("mqtt"), MqttVersion.V5);
        clients.add(client);
        client.send(SharedNode.persistent(device, MqttVersion.V5));

        assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isEqualTo(round > 0);

        assertThat(nodes.get((round + 1) % 2).bean(SessionTable.class).find(device)).isNull();
        client.subscribe().expect(MqttPacket.SubAck.class);
      }
    } finally {
      for (var client : clients) {
        client.close();
      }
    }
  }

  @Test
  void a_late_acknowledgement_at_the_former_node_settles_nothing() throws Exception {
    try (var here = subscribed(first.port("mqtt"))) {
      var outcomes = gateway.send(List.of(device), TestNode.newMessage(), "{\"n\":1}", PATIENCE);
      var publish = here.expect(MqttPacket.Publish.class);

      try (var there = subscribed(second.port("mqtt"))) {
        here.expect(MqttPacket.Disconnect.class);
        here.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));

        var outcome = outcomes.poll(60, TimeUnit.SECONDS);
        assertThat(outcome).isNotNull();
        assertThat(outcome.result()).isEqualTo(Result.NOT_HERE);
        assertAlive(there);
      }
    }
  }

  @Test
  void a_gateway_that_has_seen_a_newer_owner_gets_nothing_delivered_by_the_old_one()
      throws Exception {
    try (var client = subscribed(first.port("mqtt"))) {
      long epoch = first.bean(SessionDirectory.class).owner(device).orElseThrow().epoch();

      var newer = gateway.deliverAt(epoch + 1, device, TestNode.newMessage(), "{}");

      assertThat(newer.result()).isEqualTo(Result.NOT_HERE);
      assertAlive(client);
      var outcomes = gateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
      var publish = client.expect(MqttPacket.Publish.class);
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
      var outcome = outcomes.poll(60, TimeUnit.SECONDS);
      assertThat(outcome).isNotNull();
      assertThat(outcome.epoch()).isEqualTo(epoch);
    }
  }

  @Test
  void emqx_18565_a_connection_with_expiry_0_leaves_no_session_to_any_node() throws Exception {
    var hour = MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600);
    try (var here = subscribed(first.port("mqtt"))) {
      try (var there = new RawClient(second.port("mqtt"), MqttVersion.V5)) {
        there.send(RawClient.connect(MqttVersion.V5, device, false, hour));
        assertThat(there.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
        there.subscribe().expect(MqttPacket.SubAck.class);
        // The former node's last write about its session must not change the new session.
        here.expect(MqttPacket.Disconnect.class);
        assertThat(here.next()).isEmpty();
        there.send(new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE));
      }
    }
    var directory = first.bean(SessionDirectory.class);
    Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isEmpty());
    try (var again = new RawClient(first.port("mqtt"), MqttVersion.V5)) {
      again.send(RawClient.connect(MqttVersion.V5, device, false, hour));
      assertThat(again.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_2_3_another_node_finds_a_session_without_a_subscription(MqttVersion version)
      throws Exception {
    // The former connection is still open.
    try (var here = new RawClient(first.port("mqtt"), version);
        var there = new RawClient(second.port("mqtt"), version);
        var back = new RawClient(first.port("mqtt"), version)) {
      here.send(SharedNode.persistent(device, version));
      assertThat(here.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      assertAlive(here);

      there.send(SharedNode.persistent(device, version));
      assertThat(there.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      assertAlive(there);
      back.send(SharedNode.persistent(device, version));
      assertThat(back.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();

      back.subscribe().expect(MqttPacket.SubAck.class);
      back.send(new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE));
      assertThat(back.next()).isEmpty();
    }
    var directory = first.bean(SessionDirectory.class);
    Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isEmpty());
    try (var again = new RawClient(second.port("mqtt"), version)) {
      again.send(SharedNode.persistent(device, version));
      assertThat(again.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      assertDelivered(again, second);
    }
  }

  @Test
  void mqtt_3_2_2_3_a_subscription_that_redis_lost_comes_from_the_node_that_granted_it()
      throws Exception {
    try (var here = new RawClient(first.port("mqtt"), MqttVersion.V5);
        var there = new RawClient(second.port("mqtt"), MqttVersion.V5)) {
      here.send(SharedNode.persistent(device, MqttVersion.V5));
      assertThat(here.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      here.subscribe().expect(MqttPacket.SubAck.class);
      try (var redis = RedisClient.create(first.services().redis().toString());
          var connection = redis.connect()) {
        Eventually.within(
            PATIENCE, () -> assertThat(connection.sync().del(kept())).as("remembered").isOne());
      }

      there.send(SharedNode.persistent(device, MqttVersion.V5));

      assertThat(there.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      assertDelivered(there, second);
    }
  }

  /// Before the packet the node cannot know whether the device has had a session on another node
  /// since, so it must answer 0.
  @Test
  void mqtt_3_2_2_3_a_session_that_redis_lost_is_present_once_its_device_sent_a_packet()
      throws Exception {
    var directory = first.bean(SessionDirectory.class);
    try (var here = new RawClient(first.port("mqtt"), MqttVersion.V5);
        var there = new RawClient(second.port("mqtt"), MqttVersion.V5)) {
      here.send(SharedNode.persistent(device, MqttVersion.V5));
      assertThat(here.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      here.subscribe().expect(MqttPacket.SubAck.class);
      try (var redis = RedisClient.create(first.services().redis().toString());
          var connection = redis.connect()) {
        Eventually.within(
            PATIENCE, () -> assertThat(connection.sync().exists(kept())).as("remembered").isOne());
        connection.sync().flushall();
      }
      Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isPresent());

      there.send(SharedNode.persistent(device, MqttVersion.V5));

      assertThat(there.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      there.subscribe().expect(MqttPacket.SubAck.class);
      assertDelivered(there, second);
    }
  }

  private String kept() {
    return "mqtt-session:" + device.app().value() + "/" + device.device().value();
  }

  private void assertDelivered(RawClient client, TestNode node) throws Exception {
    try (var its = new TestGateway(node, "gw-of-" + device.device().value())) {
      its.send(List.of(device), TestNode.newMessage(), "{\"there\":1}", PATIENCE);
      assertThat(client.expect(MqttPacket.Publish.class).payload())
          .isEqualTo(Binary.of("{\"there\":1}"));
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_1_1_a_message_that_the_former_node_sent_has_dup_after_the_takeover(
      MqttVersion version) throws Exception {
    var message = TestNode.newMessage();
    try (var here = persistent(first, version);
        var its = new TestGateway(second, "gw-of-" + device.device().value())) {
      here.subscribe().expect(MqttPacket.SubAck.class);
      var outcomes = gateway.send(List.of(device), message, "{\"n\":1}", PATIENCE);
      assertThat(here.expect(MqttPacket.Publish.class).duplicate()).as("the first time").isFalse();

      try (var there = persistent(second, version)) {
        // As a gateway does with a message that comes back to it.
        assertThat(TestGateway.next(outcomes).result()).isEqualTo(Result.NOT_HERE);
        var again = its.send(List.of(device), message, "{\"n\":1}", PATIENCE);
        its.send(List.of(device), TestNode.newMessage(), "{\"n\":2}", PATIENCE);

        var repeat = there.expect(MqttPacket.Publish.class);
        assertThat(repeat.payload()).isEqualTo(Binary.of("{\"n\":1}"));
        assertThat(repeat.duplicate()).isTrue();
        var fresh = there.expect(MqttPacket.Publish.class);
        assertThat(fresh.payload()).isEqualTo(Binary.of("{\"n\":2}"));
        assertThat(fresh.duplicate()).isFalse();
        SharedNode.acknowledge(there, repeat);
        assertThat(TestGateway.next(again).result()).isEqualTo(Result.DELIVERED);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_1_1_so_it_has_if_the_device_was_away_in_between(MqttVersion version)
      throws Exception {
    first.park(device, "slot", TestNode.newMessage(), "{\"n\":1}", Duration.ofHours(1));
    try (var here = persistent(first, version)) {
      here.subscribe().expect(MqttPacket.SubAck.class);
      assertThat(here.expect(MqttPacket.Publish.class).duplicate()).as("the first time").isFalse();
    }
    var directory = first.bean(SessionDirectory.class);
    Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isEmpty());
    first.park(device, "other", TestNode.newMessage(), "{\"n\":2}", Duration.ofHours(1));

    try (var there = persistent(second, version)) {
      var repeat = there.expect(MqttPacket.Publish.class);
      assertThat(repeat.payload()).isEqualTo(Binary.of("{\"n\":1}"));
      assertThat(repeat.duplicate()).isTrue();
      var fresh = there.expect(MqttPacket.Publish.class);
      assertThat(fresh.payload()).isEqualTo(Binary.of("{\"n\":2}"));
      assertThat(fresh.duplicate()).isFalse();
    }
  }

  /// The device takes one message at a time, so the second one waits at the former node.
  @Test
  void a_message_that_the_former_node_gave_back_unsent_has_no_dup() throws Exception {
    var sent = TestNode.newMessage();
    var waiting = TestNode.newMessage();
    var one =
        MqttProperties.builder()
            .number(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600)
            .number(PropertyId.RECEIVE_MAXIMUM, 1)
            .build();
    try (var here =
            RawClient.subscribed(
                first.port("mqtt"), RawClient.connect(MqttVersion.V5, device, false, one));
        var its = new TestGateway(second, "gw-of-" + device.device().value())) {
      var outcomes = gateway.send(List.of(device), sent, "{\"n\":1}", PATIENCE);
      here.expect(MqttPacket.Publish.class);
      var others = gateway.send(List.of(device), waiting, "{\"n\":2}", PATIENCE);

      try (var there = persistent(second, MqttVersion.V5)) {
        assertThat(TestGateway.next(outcomes).result()).isEqualTo(Result.NOT_HERE);
        assertThat(TestGateway.next(others).result()).isEqualTo(Result.NOT_HERE);
        its.send(List.of(device), waiting, "{\"n\":2}", PATIENCE);

        var publish = there.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of("{\"n\":2}"));
        assertThat(publish.duplicate()).isFalse();
      }
    }
  }

  private RawClient persistent(TestNode node, MqttVersion version) throws Exception {
    return RawClient.connected(node.port("mqtt"), SharedNode.persistent(device, version));
  }

  /// A persistent session with an unacknowledged message.
  private void leaveUnacknowledged(RawClient here) throws Exception {
    here.send(SharedNode.persistent(device, MqttVersion.V5));
    here.expect(MqttPacket.ConnAck.class);
    here.subscribe().expect(MqttPacket.SubAck.class);
    gateway.send(List.of(device), TestNode.newMessage(), "{\"left\":1}", PATIENCE);
    here.expect(MqttPacket.Publish.class);
  }

  /// As a dispatcher does when the device has another user.
  @Test
  void messages_of_a_forgotten_session_are_not_sent_again() throws Exception {
    var directory = first.bean(SessionDirectory.class);
    try (var here = new RawClient(first.port("mqtt"), MqttVersion.V5)) {
      leaveUnacknowledged(here);
    }
    Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isEmpty());
    try (var redis = RedisClient.create(first.services().redis().toString());
        var connection = redis.connect()) {
      assertThat(connection.sync().del(kept())).isOne();
    }

    try (var back = new RawClient(first.port("mqtt"), MqttVersion.V5)) {
      back.send(SharedNode.persistent(device, MqttVersion.V5));
      assertThat(back.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      back.subscribe().expect(MqttPacket.SubAck.class);
      assertDelivered(back, first);
    }
  }

  /// Otherwise the messages that it has read from the inbox would go to the new user.
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_connected_device_that_gets_another_user_is_closed_and_loses_its_messages(
      MqttVersion version) throws Exception {
    try (var here = new RawClient(first.port("mqtt"), version)) {
      here.send(SharedNode.persistent(device, version));
      here.expect(MqttPacket.ConnAck.class);
      here.subscribe().expect(MqttPacket.SubAck.class);
      var outcomes =
          gateway.send(List.of(device), TestNode.newMessage(), "{\"former\":1}", PATIENCE);
      here.expect(MqttPacket.Publish.class);

      new Handovers(first.bean(RedisLink.class)).handOver(device);

      assertThat(here.next()).as("closed, and no DISCONNECT").isEmpty();
      var outcome = outcomes.poll(60, TimeUnit.SECONDS);
      assertThat(outcome).isNotNull();
      assertThat(outcome.result()).isEqualTo(Result.NOT_HERE);
    }
    Eventually.within(
        PATIENCE, () -> assertThat(first.bean(SessionDirectory.class).owner(device)).isEmpty());
    try (var next = new RawClient(first.port("mqtt"), version)) {
      next.send(SharedNode.persistent(device, version));
      assertThat(next.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
      next.subscribe().expect(MqttPacket.SubAck.class);
      assertDelivered(next, first);
    }
  }

  @Test
  void messages_sent_before_an_unsubscribe_are_not_sent_again() throws Exception {
    try (var here = new RawClient(first.port("mqtt"), MqttVersion.V5)) {
      leaveUnacknowledged(here);
      here.send(new MqttPacket.Unsubscribe(2, List.of("push/messages"), MqttProperties.NONE));
      here.expect(MqttPacket.UnsubAck.class);
      here.send(new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE));
      Eventually.within(
          PATIENCE, () -> assertThat(first.bean(SessionDirectory.class).owner(device)).isEmpty());
    }

    try (var back = new RawClient(first.port("mqtt"), MqttVersion.V5)) {
      back.send(SharedNode.persistent(device, MqttVersion.V5));
      assertThat(back.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      back.subscribe().expect(MqttPacket.SubAck.class);
      assertDelivered(back, first);
    }
  }

  /// @param gone whether the node notices that the device left before the device is back
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void messages_of_a_session_forgotten_during_its_connection_are_not_sent_again(boolean gone)
      throws Exception {
    var directory = first.bean(SessionDirectory.class);
    try (var here = new RawClient(first.port("mqtt"), MqttVersion.V5)) {
      leaveUnacknowledged(here);
      try (var redis = RedisClient.create(first.services().redis().toString());
          var connection = redis.connect()) {
        Eventually.within(
            PATIENCE, () -> assertThat(connection.sync().del(kept())).as("remembered").isOne());
      }
      if (gone) {
        here.send(new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE));
        Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isEmpty());
      }

      try (var back = new RawClient(first.port("mqtt"), MqttVersion.V5)) {
        back.send(SharedNode.persistent(device, MqttVersion.V5));
        assertThat(back.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
        back.subscribe().expect(MqttPacket.SubAck.class);
        assertDelivered(back, first);
      }
    }
  }

  @Test
  void a_message_acknowledged_elsewhere_is_not_sent_again_by_the_former_node() throws Exception {
    var message = TestNode.newMessage();
    var hour = MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600);
    try (var here = new RawClient(first.port("mqtt"), MqttVersion.V5)) {
      here.send(RawClient.connect(MqttVersion.V5, device, false, hour));
      here.expect(MqttPacket.ConnAck.class);
      here.subscribe().expect(MqttPacket.SubAck.class);
      var outcomes = gateway.send(List.of(device), message, "{\"left\":1}", PATIENCE);
      here.expect(MqttPacket.Publish.class);
      try (var there = new RawClient(second.port("mqtt"), MqttVersion.V5);
          var itsGateway = new TestGateway(second, "gw-elsewhere")) {
        there.send(RawClient.connect(MqttVersion.V5, device, false, hour));
        assertThat(there.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
        here.expect(MqttPacket.Disconnect.class);
        assertThat(here.next()).isEmpty();
        // As a gateway does with messages that come back to it.
        var outcome = outcomes.poll(60, TimeUnit.SECONDS);
        assertThat(outcome).isNotNull();
        assertThat(outcome.result()).isEqualTo(Result.NOT_HERE);
        second.park(device, "slot", message, "{\"left\":1}", Duration.ofHours(1));
        itsGateway.drain(device);

        var publish = there.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of("{\"left\":1}"));
        there.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
        Eventually.within(PATIENCE, () -> assertThat(second.parked(device)).isZero());
      }
    }

    try (var back = new RawClient(first.port("mqtt"), MqttVersion.V5)) {
      back.send(RawClient.connect(MqttVersion.V5, device, false, hour));
      assertThat(back.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      assertAlive(back);
    }
  }

  @Test
  void a_resumed_node_releases_its_device_before_it_reads_its_packets() throws Exception {
    try (var frozen = NodeProcess.start("--cm.node-id=takeover-frozen", RARELY);
        var itsGateway = new TestGateway(frozen.gateway(), "gw-frozen");
        var here = subscribed(frozen.port("mqtt"))) {
      var outcomes = itsGateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
      var publish = here.expect(MqttPacket.Publish.class);
      frozen.stopRunning();
      long stoppedNanos = System.nanoTime();
      try (var third = TestNode.start("--cm.node-id=takeover-c", RARELY);
          var there = subscribed(third.port("mqtt"))) {
        here.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
        here.send(new MqttPacket.PingReq());
        Eventually.within(
            PATIENCE,
            () ->
                assertThat(System.nanoTime() - stoppedNanos)
                    .isGreaterThan(TimeUnit.SECONDS.toNanos(4)));

        frozen.continueRunning();

        here.patience(PATIENCE);
        assertThat(here.expect(MqttPacket.Disconnect.class).reason())
            .isEqualTo(ReasonCode.SESSION_TAKEN_OVER);
        var outcome = outcomes.poll(60, TimeUnit.SECONDS);
        assertThat(outcome).isNotNull();
        assertThat(outcome.result()).isNotEqualTo(Result.DELIVERED);
        assertAlive(there);
      }
    }
  }

  @Test
  void vernemq_1577_gorush_330_the_next_node_delivers_the_messages_of_a_killed_node()
      throws Exception {
    var message = TestNode.newMessage();
    try (var doomed = NodeProcess.start("--cm.node-id=takeover-doomed", RARELY);
        var here = subscribed(doomed.port("mqtt"))) {
      first.park(device, "slot", message, "{\"kept\":1}", Duration.ofHours(1));
      try (var itsGateway = new TestGateway(doomed.gateway(), "gw-doomed")) {
        itsGateway.drain(device);
        assertThat(here.expect(MqttPacket.Publish.class).payload())
            .isEqualTo(Binary.of("{\"kept\":1}"));
        doomed.kill9();
      }

      try (var there = subscribed(second.port("mqtt"))) {
        var again = there.expect(MqttPacket.Publish.class);
        assertThat(again.payload()).isEqualTo(Binary.of("{\"kept\":1}"));
        there.send(new MqttPacket.PubAck(again.packetId(), ReasonCode.SUCCESS));
        Eventually.within(PATIENCE, () -> assertThat(first.parked(device)).isZero());
      }
    }
  }

  /// Rows, and broadcasts behind them. At another node a message that was on its way is a new
  /// packet, marked as a repeat.
  @Test
  void tbmq_320_what_was_unacknowledged_at_one_node_comes_at_the_next_and_no_position_passes_it()
      throws Exception {
    var hour = Duration.ofHours(1);
    for (int n = 1; n <= 5; n++) {
      first.park(device, "s" + n, TestNode.newMessage(), payload(n), hour);
    }
    var lists = new ArrayList<Long>();
    for (int n = 6; n <= 7; n++) {
      var message = TestNode.newMessage();
      lists.add(first.parkForAll(List.of(device), message.value(), message, payload(n), hour));
    }
    try (var here = persistent(first)) {
      here.subscribe().expect(MqttPacket.SubAck.class);
      for (int n = 1; n <= 5; n++) {
        var publish = here.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of(payload(n)));
        if (n == 2 || n == 4) {
          SharedNode.acknowledge(here, publish);
        }
      }
      Eventually.within(PATIENCE, () -> assertThat(first.parked(device)).isEqualTo(3));
      assertThat(first.position(device)).isLessThan(lists.getFirst());

      try (var there = persistent(second)) {
        for (int n : List.of(1, 3, 5, 6)) {
          var again = there.expect(MqttPacket.Publish.class);
          assertThat(again.payload()).isEqualTo(Binary.of(payload(n)));
          assertThat(again.duplicate()).isTrue();
          assertThat(first.position(device)).isLessThan(lists.getFirst());
          SharedNode.acknowledge(there, again);
        }
        Eventually.within(PATIENCE, () -> assertThat(first.parked(device)).isZero());
        var next = there.expect(MqttPacket.Publish.class);
        assertThat(next.payload()).isEqualTo(Binary.of(payload(7)));
        assertThat(next.duplicate()).isFalse();
        Eventually.within(
            PATIENCE,
            () -> assertThat(first.position(device)).isGreaterThanOrEqualTo(lists.getFirst()));
      }
    }

    // Back at the first node: the one broadcast that was not acknowledged anywhere.
    try (var back = persistent(first)) {
      var last = back.expect(MqttPacket.Publish.class);
      assertThat(last.payload()).isEqualTo(Binary.of(payload(7)));
      assertThat(first.position(device)).isLessThan(lists.getLast());
      SharedNode.acknowledge(back, last);
      Eventually.within(
          PATIENCE, () -> assertThat(first.position(device)).isEqualTo(lists.getLast()));
      assertAlive(back);
    }
  }

  private static String payload(int n) {
    return "{\"n\":" + n + "}";
  }

  private RawClient persistent(TestNode at) throws Exception {
    return RawClient.connected(at.port("mqtt"), SharedNode.persistent(device, MqttVersion.V5));
  }

  @Test
  void a_node_starts_and_serves_without_redis_and_is_known_when_it_comes() throws Exception {
    first.services().kill9(Service.REDIS);
    TestNode alone;
    RawClient client;
    try {
      alone = TestNode.start("--cm.node-id=takeover-alone");
      client = subscribed(alone.port("mqtt"));
      try (var itsGateway = new TestGateway(alone, "gw-alone")) {
        var outcomes = itsGateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
        var publish = client.expect(MqttPacket.Publish.class);
        client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
        var outcome = outcomes.poll(60, TimeUnit.SECONDS);
        assertThat(outcome).isNotNull();
        assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
      }
    } finally {
      first.services().restart(Service.REDIS);
    }
    try (client;
        alone) {
      var directory = alone.bean(SessionDirectory.class);
      Eventually.within(
          Duration.ofSeconds(60),
          () ->
              assertThat(directory.owner(device))
                  .hasValueSatisfying(
                      owner -> assertThat(owner.node().value()).isEqualTo("takeover-alone")));
      bothNodesReachTheDirectory();
    }
  }

  @Test
  void emqx_11477_a_device_that_never_acknowledges_holds_one_window_and_is_counted()
      throws Exception {
    try (var strict =
            TestNode.start(
                "--cm.node-id=takeover-strict",
                "--cm.session.window=2",
                "--cm.session.acknowledge-within=500ms");
        var itsGateway = new TestGateway(strict, "gw-strict");
        var client = subscribed(strict.port("mqtt"))) {
      for (int n = 0; n < 5; n++) {
        itsGateway.send(List.of(device), TestNode.newMessage(), "{\"n\":" + n + "}", PATIENCE);
      }
      var one = client.expect(MqttPacket.Publish.class);
      var two = client.expect(MqttPacket.Publish.class);
      var now = strict.bean(MeterRegistry.class).get("cm.session.unresponsive.now").gauge();
      Eventually.within(PATIENCE, () -> assertThat(now.value()).isEqualTo(1));

      var refused = itsGateway.deliver(device, TestNode.newMessage(), "{}", PATIENCE);

      assertThat(refused.result()).isEqualTo(Result.TIMEOUT);
      client.send(new MqttPacket.PubAck(one.packetId(), ReasonCode.SUCCESS));
      client.send(new MqttPacket.PubAck(two.packetId(), ReasonCode.SUCCESS));
      Eventually.within(PATIENCE, () -> assertThat(now.value()).isZero());
      itsGateway.send(List.of(device), TestNode.newMessage(), "{\"again\":1}", PATIENCE);
      assertThat(client.expect(MqttPacket.Publish.class).payload())
          .isEqualTo(Binary.of("{\"again\":1}"));
    }
  }

  private static void assertAlive(RawClient client) throws Exception {
    client.send(new MqttPacket.PingReq());
    client.expect(MqttPacket.PingResp.class);
  }

  private RawClient subscribed(int port) throws Exception {
    return RawClient.subscribed(port, RawClient.connect(MqttVersion.V5, device));
  }
}
