package io.pushplanet.cm;

import static io.pushplanet.cm.session.SessionBuilder.aSession;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.admission.DeniedPasswordCache;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.RecordedOrigin;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.session.SharedPublish;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionNotice.Denial;
import io.pushplanet.common.session.SessionNotice.Takeover;
import io.pushplanet.common.session.SessionOwner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// CONNECTs, wills, and frames that arrive during a connect.
class ConnectionPipelineTest extends PipelineScene {
  @Test
  void mqtt_3_14_4_3_only_a_normal_disconnection_discards_the_will() {
    var pipeline = pipeline(10);
    connected(pipeline, MqttVersion.V5, "d1", will(0)).receive(goodbye(ReasonCode.SUCCESS));
    assertThat(told).isEmpty();

    connected(pipeline, MqttVersion.V5, "d2", will(0))
        .receive(goodbye(ReasonCode.UNSPECIFIED_ERROR));
    connected(pipeline, MqttVersion.V5, "d3", will(0))
        .receive(goodbye(ReasonCode.DISCONNECT_WITH_WILL));

    assertThat(told).hasSize(2);
  }

  /// A stock client reconnects each second.
  @Test
  void whose_password_is_denied_is_not_asked_for_again_for_a_while() {
    var pipeline = pipeline(10);
    long ends = DeviceCredential.end(clock.instant(), Duration.ofDays(1));
    directory.deny(ends);

    var first = connecting(pipeline, MqttVersion.V5, "d1", null);
    assertThat(redis).hasSize(1);
    letGo();
    var again = connecting(pipeline, MqttVersion.V5, "d1", null);
    assertThat(redis).isEmpty();

    assertThat(first.refusal).isEqualTo(ReasonCode.NOT_AUTHORIZED);
    assertThat(again.refusal).isEqualTo(ReasonCode.NOT_AUTHORIZED);
    assertThat(meters.counter("cm.admission.refused", "reason", "device_deleted").count())
        .isEqualTo(2);
    connecting(pipeline, MqttVersion.V5, "d2", null);
    assertThat(redis).as("of another device").hasSize(1);
    letGo();

    loop.nowNanos += DeniedPasswordCache.KNOWN_FOR.toNanos();
    connecting(pipeline, MqttVersion.V5, "d1", null);
    assertThat(redis).as("some seconds later").hasSize(1);
  }

  /// The CONNECT waited in the kernel until its client had given up and connected again.
  @Test
  void a_connection_whose_peer_has_left_does_not_take_the_device_from_a_living_one() {
    var pipeline = pipeline(10);
    var living = connected(pipeline, MqttVersion.V5, "d1", null);
    var dead = new Client(loop);
    dead.peerLeft = true;

    connecting(dead, pipeline, "d1");

    assertThat(redis).isEmpty();
    assertThat(dead.open).isFalse();
    assertThat(living.open).isTrue();
  }

  /// The end of the connection was sent again a round trip after the CONNECT.
  @Test
  void a_connection_whose_peer_leaves_a_moment_later_does_not_take_the_device_either() {
    var pipeline = pipeline(10);
    var living = connected(pipeline, MqttVersion.V5, "d1", null);
    var dead = new Client(loop);

    connecting(dead, pipeline, "d1");
    dead.peerLeft = true;
    later(ConnectionPipeline.EVICTION_AFTER);

    assertThat(redis).isEmpty();
    assertThat(dead.open).isFalse();
    assertThat(living.open).isTrue();
  }

  @Test
  void a_connection_whose_peer_stays_takes_the_device_after_a_moment() {
    var pipeline = pipeline(10);
    var former = connected(pipeline, MqttVersion.V5, "d1", null);
    var client = new Client(loop);

    connecting(client, pipeline, "d1");
    later(ConnectionPipeline.EVICTION_AFTER.minusNanos(1));
    assertThat(former.open).isTrue();
    later(Duration.ofNanos(1));
    assertThat(former.open).isFalse();
    letGo();

    assertThat(client.packets).hasOnlyElementsOfType(MqttPacket.ConnAck.class).hasSize(1);
  }

  @Test
  void a_connection_is_accepted_if_the_former_one_ends_by_itself_meanwhile() {
    var pipeline = pipeline(10);
    var former = connected(pipeline, MqttVersion.V5, "d1", null);
    var client = new Client(loop);

    connecting(client, pipeline, "d1");
    former.end();
    later(ConnectionPipeline.EVICTION_AFTER);
    letGo();

    assertThat(client.packets).hasOnlyElementsOfType(MqttPacket.ConnAck.class).hasSize(1);
  }

  @Test
  void a_connection_whose_peer_leaves_while_its_claim_is_under_way_gets_no_session() {
    var pipeline = pipeline(10);
    var client = new Client(loop);
    connecting(client, pipeline, "d1");
    client.peerLeft = true;

    letGo();

    assertThat(client.open).isFalse();
    assertThat(client.packets).isEmpty();
    assertThat(table.size()).isZero();
  }

  /// An attacker with the password may have left the will.
  @Test
  void a_device_that_was_deleted_leaves_no_will() {
    var client = connected(pipeline(10), MqttVersion.V5, "d1", will(0));

    isDeleted("d1");
    loop.turn();

    assertThat(client.open).isFalse();
    assertThat(told).isEmpty();
  }

  @Test
  void a_device_that_was_deleted_and_is_gone_before_the_loop_hears_of_it_leaves_no_will() {
    var client = connected(pipeline(10), MqttVersion.V5, "d1", will(0));

    isDeleted("d1");
    client.end();
    loop.turn();

    assertThat(told).isEmpty();
  }

  private void isDeleted(String name) {
    var device = new DeviceKey(APP, new DeviceId(name));
    var session = requireNonNull(table.find(device));
    registrar.hear(new Denial(device, session.epoch(), session.passwordEnds()));
  }

  /// 3.14.2.2.2: it is not treated as a valid DISCONNECT.
  @Test
  void a_disconnect_that_prolongs_a_session_of_expiry_0_does_not_discard_the_will() {
    var client = connecting(pipeline(10), MqttVersion.V5, true, "d1", will(0), MqttProperties.NONE);
    letGo();

    client.receive(
        new MqttPacket.Disconnect(
            ReasonCode.SUCCESS, MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 60)));

    assertThat(client.open).isFalse();
    assertThat(told).hasSize(1);
  }

  @Test
  void mqtt_3_1_3_9_a_delayed_will_is_dropped_when_a_second_connection_has_the_device() {
    var pipeline = pipeline(10);
    var first = resuming(pipeline, "d1", will(60));
    var second = resuming(pipeline, "d1", will(60));

    letGo();
    due.forEach(Runnable::run);

    assertThat(first.open).isFalse();
    assertThat(second.open).isTrue();
    assertThat(told).isEmpty();
  }

  @Test
  void mqtt_3_1_2_8_a_clean_start_tells_the_delayed_will_of_the_session_that_it_ends() {
    var pipeline = pipeline(10);
    connected(pipeline, MqttVersion.V5, "d1", will(60));

    connected(pipeline, MqttVersion.V5, "d1", will(60));

    assertThat(told).hasSize(1);
    assertThat(due).isEmpty();
  }

  @Test
  void mqtt_3_1_3_9_a_device_that_resumes_its_session_cancels_the_delayed_will() {
    var pipeline = pipeline(10);
    connected(pipeline, MqttVersion.V5, "d1", will(60));

    var back = resuming(pipeline, "d1", will(60));
    later(ConnectionPipeline.EVICTION_AFTER);
    letGo();

    assertThat(back.packets).hasAtLeastOneElementOfType(MqttPacket.ConnAck.class);
    assertThat(told).isEmpty();
    assertThat(due).isEmpty();
  }

  @Test
  void a_full_node_takes_the_devices_that_it_has_already() {
    var pipeline = pipeline(1);
    var first = connected(pipeline, MqttVersion.V5, "d1");

    var again = connected(pipeline, MqttVersion.V5, "d1");
    var other = connecting(pipeline, MqttVersion.V5, "d2", null);

    assertThat(first.open).isFalse();
    assertThat(again.open).isTrue();
    assertThat(other.refusal).isEqualTo(ReasonCode.SERVER_BUSY);
    assertThat(refused("full")).isOne();
    assertThat(refused("server_busy")).isZero();
  }

  /// A million devices connect at once while Redis is slow.
  @Test
  void devices_that_wait_for_the_directory_count_towards_a_full_node() {
    var pipeline = pipeline(2);
    connected(pipeline, MqttVersion.V5, "d1");
    connecting(pipeline, MqttVersion.V5, "d2", null);

    var other = connecting(pipeline, MqttVersion.V5, "d3", null);
    var again = connecting(pipeline, MqttVersion.V5, "d1", null);
    later(ConnectionPipeline.EVICTION_AFTER);
    letGo();
    again.end();
    letGo();
    var later = connected(pipeline, MqttVersion.V5, "d3");

    assertThat(other.refusal).isEqualTo(ReasonCode.SERVER_BUSY);
    assertThat(again.refusal).isNull();
    assertThat(later.open).as("there is room again").isTrue();
    assertThat(registrar.arriving()).isZero();
  }

  @Test
  void mqtt_3_2_2_20_a_client_with_room_for_it_is_told_when_to_come_back() {
    var pipeline = pipeline(0);

    var told = connecting(pipeline, MqttVersion.V5, "d1", 256);
    var untold = connecting(pipeline, MqttVersion.V5, "d2", 255);

    assertThat(told.refusal).isEqualTo(ReasonCode.SERVER_BUSY);
    assertThat(told.refusalTold.userProperties())
        .singleElement()
        .satisfies(property -> {
          assertThat(property.name()).isEqualTo("retry-after");
          assertThat(Integer.parseInt(property.value())).isBetween(2, 30);
        });
    var packet = new MqttPacket.ConnAck(false, told.refusal.code(), told.refusalTold);
    assertThat(told.encode(packet)).hasSizeLessThanOrEqualTo(256);
    assertThat(untold.refusal).isEqualTo(ReasonCode.SERVER_BUSY);
    assertThat(untold.refusalTold.isEmpty()).isTrue();
  }

  /// A client with the password of a deleted device must not disturb a device that registered
  /// again.
  @Test
  void a_password_from_before_a_deletion_does_not_end_the_session_of_a_later_one() {
    var pipeline = pipeline(10);
    var before = connected(pipeline, MqttVersion.V5, "d1");
    assertThat(before.open).isTrue();
    directory.deny(DeviceCredential.end(clock.instant(), Duration.ofDays(1)));
    clock.advance(Duration.ofSeconds(1));
    var later = connected(pipeline, MqttVersion.V5, "d1");
    clock.advance(Duration.ofSeconds(-1));

    var old = connecting(pipeline, MqttVersion.V5, "d1", null);
    letGo();

    assertThat(old.refusal).isEqualTo(ReasonCode.NOT_AUTHORIZED);
    assertThat(later.open).isTrue();
    assertThat(registrar.arriving()).isZero();
    assertThat(refused("device_deleted")).isOne();
    assertThat(refused("not_authorized")).isZero();
  }

  @Test
  void an_older_password_that_is_not_denied_resumes_the_session_of_a_later_one() {
    var pipeline = pipeline(10);
    clock.advance(Duration.ofSeconds(1));
    var later = connected(pipeline, MqttVersion.V5, "d1");
    clock.advance(Duration.ofSeconds(-1));

    var earlier = connected(pipeline, MqttVersion.V5, "d1");

    assertThat(later.open).isFalse();
    assertThat(earlier.open).isTrue();
  }

  private double refused(String reason) {
    return meters.get("cm.admission.refused").tag("reason", reason).counter().count();
  }

  @Test
  void a_frame_that_finds_a_session_which_is_refused_is_answered() {
    var device = new DeviceKey(APP, new DeviceId("d1"));
    var refused = connecting(pipeline(10), MqttVersion.V5, "d1", null);
    registrar.hear(new Takeover(device, new SessionOwner(new NodeId("b"), 1_000)));
    List<DeviceSession> found = new ArrayList<>();
    var former =
        new Client(
            new HandLoop() {
              @Override
              public void execute(Runnable task) {
                found.add(table.find(device));
              }
            });
    table.put(aSession(device).epoch(0).passwordEnds(0).at(former, sessionShared));

    letGo();
    List<Settlement> settled = new ArrayList<>();
    var origin = new RecordedOrigin(settled);
    found
        .getFirst()
        .offer(
            new OutboundMessage(
                new SharedPublish(
                    new MessageId("0190b8a0-0000-7000-8000-000000000001"),
                    Binary.of("hello"),
                    clock.millis() + 60_000),
                OutboundMessage.NO_DEADLINE,
                origin));

    assertThat(refused.refusal).isEqualTo(ReasonCode.SERVER_BUSY);
    letGo();
    assertThat(directory.lastCommands())
        .as("who claimed it since waits for that")
        .endsWith(
            new Command.ConfirmRelease(
                device, new SessionOwner(new NodeId("b"), 1_000), Optional.empty()));
    assertThat(settled).containsExactly(new Settlement.NotHere());
    assertThat(origin.written).isFalse();
  }
}
