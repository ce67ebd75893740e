package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A device's session over connections, nodes and time.
@Isolated("it empties the Redis that all tests share")
class SessionsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /// How long a gateway waits for a device that does not answer: longer than a message takes.
  private static final Duration BRIEF = Duration.ofSeconds(3);

  private static TestNode node;
  private static TestNode other;
  private static TestGateway gateway;

  private final DeviceKey device = TestNode.newDevice();

  @BeforeAll
  static void start() throws Exception {
    node = TestNode.start("--cm.node-id=node-a");
    // As long as a busy machine may take from a connection to its subscription.
    other =
        TestNode.start(
            "--cm.node-id=node-b",
            "--cm.session.hold-until-subscribed=60s",
            "--cm.inbox.patrol-every=2s");
    gateway = new TestGateway(node, "gw-sessions");
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    other.close();
    node.close();
  }

  @Test
  void bark_369_a_frame_for_many_devices_is_answered_for_each_exactly_once() throws Exception {
    var absent = TestNode.newDevice();
    try (var client = subscribed(node, device, MqttVersion.V5)) {
      var queue = gateway.send(List.of(device, absent), TestNode.newMessage(), "{}", PATIENCE);
      var first = queue.poll(60, TimeUnit.SECONDS);
      var publish = client.expect(MqttPacket.Publish.class);
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
      var second = queue.poll(60, TimeUnit.SECONDS);

      assertThat(first).isNotNull();
      assertThat(first.target()).isEqualTo(1);
      assertThat(first.result()).isEqualTo(Result.NOT_HERE);
      assertThat(second).isNotNull();
      assertThat(second.target()).isZero();
      assertThat(second.result()).isEqualTo(Result.DELIVERED);
      // A whole frame later no further message has come.
      assertThat(gateway.deliver(absent, TestNode.newMessage(), "{}").result())
          .isEqualTo(Result.NOT_HERE);
      assertThat(queue).isEmpty();
    }
  }

  @Test
  void a_device_that_does_not_acknowledge_times_out_and_its_packet_id_stays_taken()
      throws Exception {
    Undisturbed.play(this::silenceOfTheFirst);
  }

  private void silenceOfTheFirst() throws Exception {
    var silent = TestNode.newDevice();
    try (var client = subscribed(node, silent, MqttVersion.V5)) {
      var outcome = gateway.deliver(silent, TestNode.newMessage(), "{\"n\":1}", BRIEF);
      var first = client.expect(MqttPacket.Publish.class);
      var queue = gateway.send(List.of(silent), TestNode.newMessage(), "{\"n\":2}", PATIENCE);
      var second = client.expect(MqttPacket.Publish.class);

      assertThat(outcome.result()).isEqualTo(Result.TIMEOUT);
      assertThat(second.packetId()).isNotEqualTo(first.packetId());
      assertThat(second.duplicate()).isFalse();
      client.send(new MqttPacket.PubAck(second.packetId(), ReasonCode.SUCCESS));
      assertThat(queue.poll(60, TimeUnit.SECONDS)).isNotNull();
    }
  }

  @Test
  void the_receive_maximum_of_the_client_is_never_passed() throws Exception {
    var two = MqttProperties.with(PropertyId.RECEIVE_MAXIMUM, 2);
    try (var client = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device, true, two));
      client.expect(MqttPacket.ConnAck.class);
      client.subscribe().expect(MqttPacket.SubAck.class);
      for (int count = 0; count < 5; count++) {
        gateway.send(List.of(device), TestNode.newMessage(), "{\"n\":" + count + "}", PATIENCE);
      }
      var first = client.expect(MqttPacket.Publish.class);
      var second = client.expect(MqttPacket.Publish.class);
      client.send(new MqttPacket.PingReq());
      client.expect(MqttPacket.PingResp.class);

      client.send(new MqttPacket.PubAck(second.packetId(), ReasonCode.SUCCESS));
      var third = client.expect(MqttPacket.Publish.class);

      assertThat(third.packetId()).isNotEqualTo(first.packetId());
      assertThat(third.payload()).isEqualTo(Binary.of("{\"n\":2}"));
    }
  }

  @Test
  void a_message_for_a_device_that_is_about_to_subscribe_is_held() throws Exception {
    try (var itsGateway = new TestGateway(other, "gw-held");
        var client = connect(other, device, MqttVersion.V5, true, 0)) {
      var queue = itsGateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
      client.subscribe().expect(MqttPacket.SubAck.class);
      var publish = client.expect(MqttPacket.Publish.class);
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));

      var outcome = queue.poll(60, TimeUnit.SECONDS);

      assertThat(outcome).isNotNull();
      assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
    }
  }

  @Test
  void a_device_that_does_not_subscribe_is_not_here_soon() throws Exception {
    try (var client = connect(node, device, MqttVersion.V5, true, 0)) {
      var outcome = gateway.deliver(device, TestNode.newMessage(), "{}");

      assertThat(outcome.result()).isEqualTo(Result.NOT_HERE);
      assertThat(outcome.reason()).isEqualTo("not_subscribed");
      client.send(new MqttPacket.PingReq());
      client.expect(MqttPacket.PingResp.class);
    }
  }

  @Test
  void a_message_longer_than_the_client_takes_is_refused_and_not_sent() throws Exception {
    var small = MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, 200);
    try (var client = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device, true, small));
      client.expect(MqttPacket.ConnAck.class);
      client.subscribe().expect(MqttPacket.SubAck.class);

      var outcome = gateway.deliver(device, TestNode.newMessage(), "x".repeat(300));

      assertThat(outcome.result()).isEqualTo(Result.REFUSED);
      assertThat(outcome.reason()).isEqualTo(Refusal.TOO_LONG.word());
      assertThat(outcome.detail()).contains("Maximum Packet Size");
    }
  }

  @Test
  void the_same_device_connecting_again_takes_over_on_this_node() throws Exception {
    try (var first = subscribed(node, device, MqttVersion.V5);
        var second = subscribed(node, device, MqttVersion.V5)) {
      assertThat(first.expect(MqttPacket.Disconnect.class).reason())
          .isEqualTo(ReasonCode.SESSION_TAKEN_OVER);
      assertThat(first.next()).isEmpty();
      var queue = gateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
      var publish = second.expect(MqttPacket.Publish.class);
      second.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));

      var outcome = queue.poll(60, TimeUnit.SECONDS);
      assertThat(outcome).isNotNull();
      assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void ntfy_227_ntfy_1114_ntfy_1878_a_persistent_session_comes_back_on_any_node(MqttVersion version)
      throws Exception {
    try (var client = connect(node, device, version, false, 3600)) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      client.send(new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE));
    }
    Eventually.within(
        PATIENCE, () -> assertThat(node.bean(SessionDirectory.class).owner(device)).isEmpty());
    var message = TestNode.newMessage();
    node.park(device, "slot", message, "{\"parked\":true}", Duration.ofHours(1));

    try (var client = new RawClient(other.port("mqtt"), version)) {
      client.send(RawClient.connect(version, device, false, expiry(version, 3600)));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();
      var publish = client.expect(MqttPacket.Publish.class);
      assertThat(publish.payload()).isEqualTo(Binary.of("{\"parked\":true}"));
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
      Eventually.within(PATIENCE, () -> assertThat(node.parked(device)).isZero());
    }
    try (var client = connect(other, device, version, true, 0)) {
      client.send(new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE));
    }
    try (var client = new RawClient(node.port("mqtt"), version)) {
      client.send(RawClient.connect(version, device, false, expiry(version, 3600)));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isFalse();
    }
  }

  @Test
  void an_unacknowledged_message_is_sent_again_on_reconnect_with_dup_and_its_packet_id()
      throws Exception {
    int firstId;
    try (var client = connect(node, device, MqttVersion.V5, false, 3600)) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      gateway.send(List.of(device), TestNode.newMessage(), "{\"again\":1}", PATIENCE);
      var publish = client.expect(MqttPacket.Publish.class);
      assertThat(publish.duplicate()).isFalse();
      firstId = publish.packetId();
    }
    try (var client = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device, false, expiry(MqttVersion.V5, 3600)));
      assertThat(client.expect(MqttPacket.ConnAck.class).sessionPresent()).isTrue();

      var again = client.expect(MqttPacket.Publish.class);

      assertThat(again.duplicate()).isTrue();
      assertThat(again.packetId()).isEqualTo(firstId);
      assertThat(again.payload()).isEqualTo(Binary.of("{\"again\":1}"));
    }
  }

  @Test
  void emqx_16296_a_packet_id_is_not_given_to_another_message_across_a_reconnect()
      throws Exception {
    int kept;
    try (var client = connect(node, device, MqttVersion.V5, false, 3600)) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      gateway.send(List.of(device), TestNode.newMessage(), "{\"old\":1}", PATIENCE);
      kept = client.expect(MqttPacket.Publish.class).packetId();
    }
    try (var client = connect(node, device, MqttVersion.V5, false, 3600)) {
      assertThat(client.expect(MqttPacket.Publish.class).packetId()).isEqualTo(kept);
      for (int n = 0; n < 20; n++) {
        var outcomes = gateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
        var publish = client.expect(MqttPacket.Publish.class);
        assertThat(publish.packetId()).isNotEqualTo(kept);
        client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
        assertThat(TestGateway.next(outcomes).result()).isEqualTo(Result.DELIVERED);
      }
    }
    // None of these acknowledgements was taken for the old message's.
    try (var client = connect(node, device, MqttVersion.V5, false, 3600)) {
      var again = client.expect(MqttPacket.Publish.class);
      assertThat(again.payload()).isEqualTo(Binary.of("{\"old\":1}"));
      assertThat(again.packetId()).isEqualTo(kept);
      client.send(new MqttPacket.PubAck(kept, ReasonCode.SUCCESS));
      SharedNode.silent(client);
    }
  }

  @Test
  void an_acknowledged_redelivery_settles_the_parked_copy() throws Exception {
    var message = TestNode.newMessage();
    Instant toldAgain;
    node.events();
    try (var client = connect(node, device, MqttVersion.V5, false, 3600)) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      gateway.send(List.of(device), message, "{}", PATIENCE);
      client.expect(MqttPacket.Publish.class);
    }
    try (var client = connect(node, device, MqttVersion.V5, false, 3600)) {
      var again = client.expect(MqttPacket.Publish.class);
      assertThat(again.duplicate()).isTrue();
      // The node has read it before the copy is parked, because it answers the ping behind it.
      client.send(new MqttPacket.PubAck(again.packetId(), ReasonCode.SUCCESS));
      client.send(new MqttPacket.PingReq()).expect(MqttPacket.PingResp.class);
      node.park(device, "a", message, "{}", Duration.ofHours(1));
      node.park(device, "b", TestNode.newMessage(), "{\"next\":1}", Duration.ofHours(1));

      gateway.drain(device);

      var next = client.expect(MqttPacket.Publish.class);
      assertThat(next.payload()).isEqualTo(Binary.of("{\"next\":1}"));
      client.send(new MqttPacket.PubAck(next.packetId(), ReasonCode.SUCCESS));
      Eventually.within(PATIENCE, () -> assertThat(node.parked(device)).isZero());
      // A gateway that sends the message again is told so, too.
      var outcome = gateway.deliver(device, message, "{}", PATIENCE);
      assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
      toldAgain = Objects.requireNonNull(outcome.acknowledgedAt());
      SharedNode.silent(client);
    }
    assertThat(node.events())
        .filteredOn(
            event -> event instanceof DeliveryEvent.Ended ended && ended.message().equals(message))
        // Once for itself and once for the row; an event with the same content counts once.
        .hasSize(2)
        .allSatisfy(event ->
            assertThat(((DeliveryEvent.Ended) event).state()).isEqualTo(DeliveryState.DELIVERED))
        .extracting(event -> ((DeliveryEvent.Ended) event).attempt())
        .containsOnly(Attempt.acknowledgedLate(toldAgain));
  }

  @Test
  void a_late_acknowledgement_is_told_once_and_one_in_time_is_not() throws Exception {
    var late = TestNode.newMessage();
    List<DeliveryEvent> told = new ArrayList<>();
    try (var client = subscribed(node, device, MqttVersion.V5)) {
      var inTime = gateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
      SharedNode.acknowledge(client, client.expect(MqttPacket.Publish.class));
      assertThat(TestGateway.next(inTime))
          .returns(Result.DELIVERED, Outcome::result)
          .returns(null, Outcome::acknowledgedAt);

      var givenUp = gateway.deliver(device, late, "{}", Duration.ofMillis(300));
      assertThat(givenUp.result()).isEqualTo(Result.TIMEOUT);
      var publish = client.expect(MqttPacket.Publish.class);
      SharedNode.acknowledge(client, publish);
      SharedNode.acknowledge(client, publish);
      Eventually.within(
          PATIENCE,
          () -> {
            told.addAll(eventsOfDevice());
            assertThat(told).isNotEmpty();
          });

      // A gateway that sends the message again is told the same.
      var again = gateway.deliver(device, late, "{}", PATIENCE);
      assertThat(again.result()).isEqualTo(Result.DELIVERED);
      SharedNode.silent(client);
      told.addAll(eventsOfDevice());
      assertThat(told)
          .singleElement()
          .isInstanceOfSatisfying(
              DeliveryEvent.Ended.class,
              ended -> {
                assertThat(ended.message()).isEqualTo(late);
                assertThat(ended.state()).isEqualTo(DeliveryState.DELIVERED);
                assertThat(ended.attempt())
                    .isEqualTo(
                        Attempt.acknowledgedLate(Objects.requireNonNull(again.acknowledgedAt())));
              });
    }
  }

  private List<DeliveryEvent> eventsOfDevice() throws Exception {
    return node.events().stream()
        .filter(event ->
            event instanceof DeliveryEvent.Ended ended && ended.device().equals(device.device()))
        .toList();
  }

  @Test
  void the_inbox_is_drained_in_order_without_what_has_expired() throws Exception {
    node.park(device, "dead", TestNode.newMessage(), "{\"n\":0}", Duration.ofSeconds(-1));
    for (int n = 1; n <= 250; n++) {
      node.park(device, "s" + n, TestNode.newMessage(), "{\"n\":" + n + "}", Duration.ofHours(1));
    }
    node.events();
    try (var client = subscribed(node, device, MqttVersion.V3_1_1)) {
      for (int n = 1; n <= 250; n++) {
        var publish = client.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of("{\"n\":" + n + "}"));
        client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
      }
      Eventually.within(PATIENCE, () -> assertThat(node.parked(device)).isEqualTo(1));
    }
    assertThat(node.events())
        .filteredOn(event ->
            event instanceof DeliveryEvent.Ended ended
                && ended.state() == DeliveryState.DELIVERED
                && ended.device().equals(device.device()))
        .hasSize(250);
  }

  @Test
  void a_gateways_drain_brings_what_was_parked_for_a_connected_device() throws Exception {
    try (var client = subscribed(node, device, MqttVersion.V5)) {
      node.park(device, "s", TestNode.newMessage(), "{\"late\":1}", Duration.ofHours(1));

      gateway.drain(device);

      var publish = client.expect(MqttPacket.Publish.class);
      assertThat(publish.payload()).isEqualTo(Binary.of("{\"late\":1}"));
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
      Eventually.within(PATIENCE, () -> assertThat(node.parked(device)).isZero());
    }
  }

  @Test
  void gorush_693_what_was_parked_without_a_word_is_brought_to_an_idle_device() throws Exception {
    try (var client = subscribed(other, device, MqttVersion.V5)) {
      node.park(device, "s", TestNode.newMessage(), "{\"late\":1}", Duration.ofHours(1));

      // No gateway announces it: the node checks by itself from time to time.
      assertThat(client.expect(MqttPacket.Publish.class).payload())
          .isEqualTo(Binary.of("{\"late\":1}"));
    }
  }

  @Test
  void a_parked_copy_of_a_message_in_flight_rides_on_it() throws Exception {
    Undisturbed.play(this::copyOfWhatIsInFlight);
  }

  private void copyOfWhatIsInFlight() throws Exception {
    var slow = TestNode.newDevice();
    var message = TestNode.newMessage();
    try (var client = subscribed(node, slow, MqttVersion.V5)) {
      assertThat(gateway.deliver(slow, message, "{}", BRIEF).result()).isEqualTo(Result.TIMEOUT);
      var publish = client.expect(MqttPacket.Publish.class);
      node.park(slow, "a", message, "{}", Duration.ofHours(1));
      node.park(slow, "b", TestNode.newMessage(), "{\"next\":1}", Duration.ofHours(1));

      gateway.drain(slow);

      var next = client.expect(MqttPacket.Publish.class);
      assertThat(next.payload()).isEqualTo(Binary.of("{\"next\":1}"));
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
      client.send(new MqttPacket.PubAck(next.packetId(), ReasonCode.SUCCESS));
      Eventually.within(PATIENCE, () -> assertThat(node.parked(slow)).isZero());
    }
  }

  @Test
  void a_will_is_told_when_the_connection_breaks_but_not_after_a_goodbye() throws Exception {
    var will =
        new Will("push/uplink", Binary.of("gone"), QoS.AT_LEAST_ONCE, false, MqttProperties.NONE);
    try (var client = connectWithWill(will)) {
      client.send(new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE));
      assertThat(client.next()).isEmpty();
    }
    assertThat(node.events())
        .noneMatch(event ->
            event instanceof DeliveryEvent.Uplink uplink
                && uplink.device().equals(device.device()));
    connectWithWill(will).close();

    Eventually.within(
        PATIENCE,
        () ->
            assertThat(node.events())
                .anySatisfy(event -> {
                  assertThat(event).isInstanceOf(DeliveryEvent.Uplink.class);
                  assertThat(((DeliveryEvent.Uplink) event).payload())
                      .isEqualTo(Binary.of("gone").bytes());
                }));
  }

  @Test
  void sessions_are_announced_again_and_drained_after_redis_lost_everything() throws Exception {
    var payload = "{\"lost\":1}";
    node.park(device, "earlier", TestNode.newMessage(), "{}", Duration.ofHours(1));
    try (var client = subscribed(node, device, MqttVersion.V5)) {
      // The drain of the subscription is over when its row is gone, so later messages have another
      // cause.
      var earlier = client.expect(MqttPacket.Publish.class);
      client.send(new MqttPacket.PubAck(earlier.packetId(), ReasonCode.SUCCESS));
      Eventually.within(PATIENCE, () -> assertThat(node.parked(device)).isZero());
      node.park(device, "s", TestNode.newMessage(), payload, Duration.ofHours(1));

      try (var redis = RedisClient.create(node.services().redis().toString());
          var connection = redis.connect()) {
        connection.sync().flushall();
      }

      assertThat(client.expect(MqttPacket.Publish.class).payload()).isEqualTo(Binary.of(payload));
      // The first drain reads again when its last row is gone, and may have brought this message.
      var directory = node.bean(SessionDirectory.class);
      Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isPresent());
    }
  }

  private RawClient connectWithWill(Will will) throws Exception {
    var usual = RawClient.connect(MqttVersion.V5, device);
    var client = new RawClient(node.port("mqtt"), MqttVersion.V5);
    client.send(
        new Connect(
            MqttVersion.V5,
            true,
            60,
            usual.clientId(),
            usual.userName(),
            usual.password(),
            will,
            MqttProperties.NONE));
    client.expect(MqttPacket.ConnAck.class);
    return client;
  }

  private static MqttProperties expiry(MqttVersion version, long seconds) {
    return version == MqttVersion.V5
        ? MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, seconds)
        : MqttProperties.NONE;
  }

  private static RawClient connect(
      TestNode at, DeviceKey device, MqttVersion version, boolean clean, long expirySeconds)
      throws Exception {
    return RawClient.connected(
        at.port("mqtt"), RawClient.connect(version, device, clean, expiry(version, expirySeconds)));
  }

  private static RawClient subscribed(TestNode at, DeviceKey device, MqttVersion version)
      throws Exception {
    return RawClient.subscribed(
        at.port("mqtt"), RawClient.connect(version, device, true, expiry(version, 0)));
  }
}
