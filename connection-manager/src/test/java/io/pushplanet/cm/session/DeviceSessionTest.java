package io.pushplanet.cm.session;

import static io.pushplanet.cm.session.SessionBuilder.aSession;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import io.pushplanet.cm.transport.AtOnceLoop;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeviceSessionTest {
  private static final DeviceKey DEVICE = new DeviceKey(new AppId("shop"), new DeviceId("d1"));
  private static final MessageId MESSAGE = new MessageId("0190b8a0-0000-7000-8000-000000000001");
  private static final MessageId OTHER = new MessageId("0190b8a0-0000-7000-8000-000000000002");
  private static final MessageId THIRD = new MessageId("0190b8a0-0000-7000-8000-000000000003");
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  private final MutableClock clock = MutableClock.started();
  private final SessionMetrics metrics = new SessionMetrics(new SimpleMeterRegistry());
  private final List<Settlement> settled = new ArrayList<>();
  private final List<DeliveryEvent> told = new ArrayList<>();
  private final AtOnceLoop loop = new AtOnceLoop();
  private final QuietClient device = new QuietClient(loop);
  // Takes one message at a time.
  private final DeviceSession session = session(device, 1);

  @Test
  void a_qos_0_message_is_settled_by_the_socket_whatever_the_later_subscription() {
    session.subscribe(Subscription.of(QoS.AT_MOST_ONCE, 0));
    offer();
    assertThat(settled).isEmpty();

    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    session.flushed();

    assertThat(settled).singleElement().isInstanceOf(Settlement.Delivered.class);
    assertThat(metrics.inFlight).hasValue(0);
  }

  @Test
  void at_qos_0_a_device_is_responsive_again_once_its_socket_has_taken_the_bytes() {
    var client = new QuietClient();
    var slow = session(client, 1);
    slow.subscribe(Subscription.of(QoS.AT_MOST_ONCE, 0));
    slow.offer(message(OutboundMessage.NO_DEADLINE));
    slow.swept(Duration.ofSeconds(61).toNanos());
    assertThat(metrics.unresponsiveNow).hasValue(1);

    slow.flushed();
    slow.offer(message(OutboundMessage.NO_DEADLINE));

    assertThat(metrics.unresponsiveNow).hasValue(0);
    assertThat(client.sent).hasSize(2);
  }

  @Test
  void a_qos_1_message_waits_for_its_acknowledgement() {
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    offer();

    session.flushed();

    assertThat(settled).isEmpty();
    assertThat(metrics.inFlight).hasValue(1);
  }

  @Test
  void redelivery_ends_when_the_socket_fails() {
    var full = new FullSocket();
    var again = session(full, 16);
    full.session = again;

    again.resume(
        Subscription.of(QoS.AT_LEAST_ONCE, 0),
        List.of(new Unacknowledged(1, publish()), new Unacknowledged(2, publish())));

    assertThat(full.sent).as("before it ended").hasSize(1);
    assertThat(metrics.inFlight).hasValue(0);
  }

  @Test
  void a_message_whose_socket_fails_is_not_reported_as_written_after_its_end() {
    var full = new FullSocket();
    var failing = session(full, 16);
    full.session = failing;
    failing.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    var origin = new RecordedOrigin(settled);

    failing.offer(new OutboundMessage(publish(), OutboundMessage.NO_DEADLINE, origin));

    assertThat(settled).containsExactly(new Settlement.NotHere());
    assertThat(origin.written).isFalse();
  }

  @Test
  void a_message_that_the_next_connection_has_no_room_for_does_not_count_as_sent_again() {
    var client = new QuietClient(loop);
    var small = aSession(DEVICE).largestPacket(8).at(client, SessionBuilder.shared(metrics, clock));

    small.resume(Subscription.of(QoS.AT_LEAST_ONCE, 0), List.of(new Unacknowledged(1, publish())));

    assertThat(client.sent).isEmpty();
    assertThat(metrics.redelivered.count()).isZero();
  }

  /// Another node's claim and the end of the socket may come in the same turn.
  @Test
  void a_session_that_has_ended_is_not_fenced() {
    session.end();

    session.fence();

    assertThat(metrics.fenced.count()).isZero();
  }

  /// The gateway, which no longer waits, is told of the timeout only by the loop's next sweep.
  @Test
  void an_acknowledgement_after_the_gateways_deadline_is_told_before_the_next_sweep() {
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    offer(TimeUnit.SECONDS.toNanos(1));
    loop.nowNanos = TimeUnit.SECONDS.toNanos(2);

    session.acknowledged(device.lastPacketId(), ReasonCode.SUCCESS);

    assertThat(settled).containsExactly(new Settlement.Delivered(clock.instant()));
    assertThat(told).containsExactly(LateAcknowledgements.event(DEVICE, MESSAGE, clock.instant()));
  }

  @Test
  void an_acknowledgement_in_time_is_told_to_the_gateway_alone() {
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    offer(TimeUnit.SECONDS.toNanos(1));

    session.acknowledged(device.lastPacketId(), ReasonCode.SUCCESS);

    assertThat(settled).containsExactly(Settlement.DELIVERED);
    assertThat(told).isEmpty();
  }

  /// Frames lay in the queue of a loop that stood still, and their gateways have used another way.
  @Test
  void a_message_that_its_gateway_gave_up_is_not_sent_before_the_next_sweep() {
    var client = new QuietClient(loop);
    var slow = session(client, 1);
    slow.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    long deadline = TimeUnit.SECONDS.toNanos(1);
    slow.offer(message(deadline));
    slow.offer(message(OTHER, deadline));
    loop.nowNanos = TimeUnit.SECONDS.toNanos(10);

    slow.acknowledged(client.lastPacketId(), ReasonCode.SUCCESS);
    slow.offer(message(THIRD, deadline));

    assertThat(client.sent).hasSize(1);
    assertThat(settled)
        .containsExactly(
            new Settlement.Delivered(clock.instant()),
            new Settlement.TimedOut(),
            new Settlement.TimedOut());
  }

  @Test
  void a_message_that_is_hardly_overdue_is_sent() {
    var client = new QuietClient(loop);
    var quick = session(client, 1);
    quick.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    loop.nowNanos = TimeUnit.MILLISECONDS.toNanos(900);

    quick.offer(message(0));

    assertThat(client.sent).hasSize(1);
  }

  /// An origin refers to a whole frame, or to a broadcast to thousands of devices.
  @Test
  void a_told_origin_is_not_kept_although_the_device_never_acknowledges() {
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    var origin = offerTo(TimeUnit.SECONDS.toNanos(1));
    session.swept(TimeUnit.SECONDS.toNanos(2));
    assertThat(settled).containsExactly(new Settlement.TimedOut());
    assertForgotten(origin);
    assertThat(metrics.inFlight).as("its packet id is taken").hasValue(1);
  }

  @Test
  void a_message_for_the_next_connection_does_not_keep_its_origin() {
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    var origin = offerTo(OutboundMessage.NO_DEADLINE);

    var left = session.end();

    assertForgotten(origin);
    assertThat(left).singleElement().returns(device.lastPacketId(), Unacknowledged::packetId);
  }

  @Test
  void a_device_leaves_once_it_has_acknowledged_its_messages() {
    var client = new LeavingClient(loop);
    var leaving = leavingWithAMessageInFlight(client);
    assertThat(client.told).isEmpty();

    leaving.acknowledged(client.lastPacketId(), ReasonCode.SUCCESS);

    assertThat(client.told).containsExactly(ReasonCode.USE_ANOTHER_SERVER);
  }

  @Test
  void a_device_that_acknowledges_nothing_leaves_at_the_deadline() {
    var client = new LeavingClient(loop);
    var leaving = leavingWithAMessageInFlight(client);

    loop.nowNanos = PATIENCE.toNanos() - 1;
    assertThat(leaving.swept(loop.nowNanos)).as("is swept again").isTrue();
    assertThat(client.told).isEmpty();
    loop.nowNanos = PATIENCE.toNanos();
    leaving.swept(loop.nowNanos);

    assertThat(client.told).containsExactly(ReasonCode.USE_ANOTHER_SERVER);
    assertThat(settled).containsExactly(new Settlement.NotHere());
  }

  @Test
  void a_message_that_another_node_may_have_sent_has_dup_and_others_have_not() {
    var client = new QuietClient();
    var resumed = session(client, 16);
    resumed.expectRepeats(List.of(MESSAGE), List.of());
    resumed.resume(Subscription.of(QoS.AT_LEAST_ONCE, 0), List.of());

    resumed.offer(message(OTHER, OutboundMessage.NO_DEADLINE));
    resumed.offer(message(MESSAGE, OutboundMessage.NO_DEADLINE));

    assertThat(client.sent).map(DeviceSessionTest::isDuplicate).containsExactly(false, true);
    assertThat(metrics.redelivered.count()).isEqualTo(1);
    resumed.acknowledged(client.lastPacketId(), ReasonCode.SUCCESS);
    assertThat(settled).as("in time").containsExactly(Settlement.DELIVERED);
  }

  /// MQTT-4.4.0-1. The Receive Maximum may be smaller than on the connection before.
  @Test
  void what_the_window_has_no_room_for_at_once_has_dup_when_it_comes_again() {
    var client = new QuietClient();
    var resumed = session(client, 1);
    resumed.resume(
        Subscription.of(QoS.AT_LEAST_ONCE, 0),
        List.of(
            new Unacknowledged(1, publish(THIRD)),
            new Unacknowledged(2, publish(OTHER)),
            new Unacknowledged(3, publish(MESSAGE))));
    resumed.acknowledged(1, ReasonCode.SUCCESS);

    resumed.offer(message(OTHER, OutboundMessage.NO_DEADLINE));
    resumed.acknowledged(client.lastPacketId(), ReasonCode.SUCCESS);
    resumed.offer(message(MESSAGE, OutboundMessage.NO_DEADLINE));

    assertThat(client.sent).map(DeviceSessionTest::isDuplicate).containsExactly(true, true, true);
  }

  /// MQTT-3.3.1-2.
  @Test
  void at_qos_0_no_message_has_dup() {
    var client = new QuietClient();
    var resumed = session(client, 16);
    resumed.expectRepeats(List.of(MESSAGE), List.of());
    resumed.resume(Subscription.of(QoS.AT_MOST_ONCE, 0), List.of());

    resumed.offer(message(OutboundMessage.NO_DEADLINE));

    assertThat(client.sent).map(DeviceSessionTest::isDuplicate).containsExactly(false);
  }

  @Test
  void what_the_device_may_have_received_goes_to_its_next_node_for_a_minute() {
    var client = new QuietClient(loop);
    var resumed = session(client, 16);
    resumed.expectRepeats(
        List.of(MESSAGE, OTHER, THIRD), List.of(new Unacknowledged(9, publish(THIRD))));
    resumed.resume(Subscription.of(QoS.AT_LEAST_ONCE, 0), List.of());
    resumed.offer(message(MESSAGE, OutboundMessage.NO_DEADLINE));

    assertThat(resumed.mayHaveReceived(resumed.end())).containsExactly(MESSAGE, OTHER);
    assertThat(resumed.mayHaveReceived(List.of())).isEmpty();
  }

  /// The client acknowledges by hand, and was connected to another node before: its PUBACK for a
  /// message of that connection comes on this one.
  @Test
  void a_late_puback_of_an_earlier_connection_settles_no_message_of_this_one() {
    var earlier = new QuietClient(loop);
    offerWindow(earlier, 1_795_000_000_000L);
    var late = earlier.packetIds();

    for (long secondsLater = 1; secondsLater <= 100; secondsLater++) {
      var next = new QuietClient(loop);
      var resumed = offerWindow(next, 1_795_000_000_000L + secondsLater * 1_000);

      late.forEach(packetId -> resumed.acknowledged(packetId, ReasonCode.SUCCESS));

      assertThat(settled).as("after %s s", secondsLater).isEmpty();
    }
  }

  private DeviceSession offerWindow(QuietClient client, long epoch) {
    var resumed =
        aSession(DEVICE).window(3).epoch(epoch).at(client, SessionBuilder.shared(metrics, clock));
    resumed.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    for (MessageId id : List.of(MESSAGE, OTHER, THIRD)) {
      resumed.offer(message(id, OutboundMessage.NO_DEADLINE));
    }
    return resumed;
  }

  private static boolean isDuplicate(byte[] publish) {
    return (publish[0] & 0x08) != 0;
  }

  private DeviceSession leavingWithAMessageInFlight(LeavingClient client) {
    var leaving = session(client, 1);
    client.session = leaving;
    leaving.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    leaving.offer(message(OutboundMessage.NO_DEADLINE));
    leaving.leave(ReasonCode.USE_ANOTHER_SERVER, MqttProperties.NONE, PATIENCE.toNanos());
    return leaving;
  }

  private WeakReference<OutboundMessage.Origin> offerTo(long answerByNanos) {
    var message = message(answerByNanos);
    session.offer(message);
    return new WeakReference<>(message.origin());
  }

  private static void assertForgotten(WeakReference<?> origin) {
    Eventually.within(
        Duration.ofSeconds(10),
        () -> {
          System.gc();
          assertThat(origin.get() == null).isTrue();
        });
  }

  /// A slow reader whose connection is closed within the write that is one too many.
  private static final class FullSocket extends QuietClient {
    private @Nullable DeviceSession session;

    @Override
    public void sendEncoded(byte[] packet) {
      super.sendEncoded(packet);
      Objects.requireNonNull(session).end();
    }
  }

  private static final class LeavingClient extends QuietClient {
    private final List<ReasonCode> told = new ArrayList<>();
    private @Nullable DeviceSession session;

    LeavingClient(AtOnceLoop loop) {
      super(loop);
    }

    @Override
    public void disconnect(ReasonCode reason, MqttProperties properties) {
      told.add(reason);
    }

    @Override
    public void retire() {
      Objects.requireNonNull(session).end();
    }
  }

  private DeviceSession session(QuietClient client, int window) {
    var late = new LateAcknowledgements(1, told::add);
    return aSession(DEVICE).window(window).at(client, SessionBuilder.shared(metrics, late, clock));
  }

  private void offer() {
    offer(OutboundMessage.NO_DEADLINE);
  }

  private void offer(long answerByNanos) {
    session.offer(message(answerByNanos));
  }

  private SharedPublish publish() {
    return publish(MESSAGE);
  }

  private SharedPublish publish(MessageId id) {
    return new SharedPublish(id, Binary.of("hello"), clock.millis() + 60_000);
  }

  private OutboundMessage message(long answerByNanos) {
    return message(MESSAGE, answerByNanos);
  }

  private OutboundMessage message(MessageId id, long answerByNanos) {
    return new OutboundMessage(publish(id), answerByNanos, new RecordedOrigin(settled));
  }
}
