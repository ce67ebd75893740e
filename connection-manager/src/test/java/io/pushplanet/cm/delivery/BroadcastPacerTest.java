package io.pushplanet.cm.delivery;

import static io.pushplanet.cm.session.SessionBuilder.aSession;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.SessionBuilder;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// The pace of a broadcast, on a loop that is turned by hand.
class BroadcastPacerTest {
  private static final AppId APP = new AppId("shop");
  private static final int ROOM = 10;
  private static final String PAYLOAD = "{}";

  private final MutableClock clock = MutableClock.started();
  private final HandLoop loop =
      new HandLoop() {
        @Override
        protected void run(Runnable task) {
          try {
            task.run();
          } catch (NoClassDefFoundError broken) {
            // A real loop's other tasks are not affected, either.
            assertThat(broken).hasMessage("for the test");
          }
        }
      };
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final SessionMetrics sessionMetrics = new SessionMetrics(meters);
  private final TargetPermits permits = new TargetPermits(10_000, meters);
  private final SessionTable table = new SessionTable();
  private final List<Client> clients = new ArrayList<>();
  private final Map<Integer, Result> answers = new HashMap<>();

  @Test
  void at_qos_1_the_bytes_in_flight_are_bounded_and_every_device_gets_the_message() {
    devices(200, QoS.AT_LEAST_ONCE);

    broadcast(room(ROOM));
    loop.turn();

    for (int acknowledged = 0; acknowledged < 200; acknowledged++) {
      assertThat(sent() - acknowledged).isBetween(1, ROOM);
      acknowledgeOne();
      loop.turn();
    }
    assertThat(answers)
        .hasSize(200)
        .allSatisfy((_, result) -> assertThat(result).isEqualTo(Result.DELIVERED));
  }

  @Test
  void at_qos_0_room_comes_back_with_time() {
    devices(3 * ROOM, QoS.AT_MOST_ONCE);

    broadcast(room(ROOM));
    loop.turn();
    flushed();
    assertThat(sent()).isEqualTo(ROOM);
    for (int round = 2; round <= 3; round++) {
      loop.nowNanos += Duration.ofMillis(300).toNanos();
      loop.turn();
      flushed();
      assertThat(sent()).isEqualTo(round * ROOM);
    }

    assertThat(answers)
        .hasSize(3 * ROOM)
        .allSatisfy((_, result) -> assertThat(result).isEqualTo(Result.DELIVERED));
  }

  @Test
  void a_device_that_is_not_reached_in_time_is_answered_at_the_deadline() {
    devices(100, QoS.AT_LEAST_ONCE);

    broadcast(room(ROOM));
    loop.turn();
    loop.nowNanos += Duration.ofSeconds(11).toNanos();
    loop.turn();

    assertThat(sent()).isEqualTo(ROOM);
    assertThat(answers)
        .hasSize(100 - ROOM)
        .allSatisfy((_, result) -> assertThat(result).isEqualTo(Result.TIMEOUT));
    table.all().forEach(session -> session.swept(loop.nowNanos));
    assertThat(answers).hasSize(100).doesNotContainValue(Result.DELIVERED);
  }

  @Test
  void a_node_whose_clock_is_ahead_of_the_gateways_delivers_a_broadcast_nevertheless() {
    devices(100, QoS.AT_LEAST_ONCE);

    broadcast(Long.MAX_VALUE, Duration.ofSeconds(-3));
    loop.nowNanos += Duration.ofMillis(10).toNanos();
    loop.turn();
    while (answers.size() < 100) {
      acknowledgeOne();
    }

    assertThat(answers).allSatisfy((_, result) -> assertThat(result).isEqualTo(Result.DELIVERED));
  }

  @Test
  void the_time_to_write_a_message_counts_from_the_frame() {
    devices(BroadcastPacer.SLICE + 1, QoS.AT_LEAST_ONCE);

    broadcast(Long.MAX_VALUE);
    loop.nowNanos += Duration.ofMillis(30).toNanos();
    loop.turn();

    var written = meters.get("cm.delivery.written").timer();
    assertThat(written.count()).isEqualTo(BroadcastPacer.SLICE + 1);
    assertThat(written.mean(TimeUnit.MILLISECONDS)).isEqualTo(30);
  }

  @Test
  void a_loops_other_work_comes_in_between() {
    devices(1_000, QoS.AT_LEAST_ONCE);
    List<Integer> sentBefore = new ArrayList<>();

    broadcast(Long.MAX_VALUE);
    while (loop.hasWork()) {
      loop.execute(() -> sentBefore.add(sent()));
      loop.turnOnce();
    }

    int before = 0;
    for (int now : sentBefore) {
      assertThat(now - before).isLessThanOrEqualTo(BroadcastPacer.SLICE);
      before = now;
    }
    assertThat(sent()).isEqualTo(1_000);
  }

  @Test
  void after_a_slice_a_loop_has_twice_as_long_for_other_things() {
    devices(3 * BroadcastPacer.SLICE, QoS.AT_LEAST_ONCE);

    broadcast(Long.MAX_VALUE);
    while (sent() == 0) {
      loop.turnOnce();
    }
    loop.nowNanos += Duration.ofMillis(2).toNanos();
    loop.turn();
    loop.nowNanos += Duration.ofMillis(4).toNanos() - 1;
    loop.turn();
    assertThat(sent()).isEqualTo(BroadcastPacer.SLICE);

    loop.nowNanos++;
    loop.turnOnce();
    loop.turnOnce();
    assertThat(sent()).isEqualTo(2 * BroadcastPacer.SLICE);
  }

  @Test
  void a_loop_that_stood_still_meanwhile_rests_no_longer_than_another() {
    devices(3 * BroadcastPacer.SLICE, QoS.AT_LEAST_ONCE);

    broadcast(Long.MAX_VALUE);
    while (sent() == 0) {
      loop.turnOnce();
    }
    loop.nowNanos += Duration.ofSeconds(5).toNanos();
    loop.turn();
    loop.nowNanos += Duration.ofMillis(50).toNanos();
    loop.turnOnce();
    loop.turnOnce();

    assertThat(sent()).isEqualTo(2 * BroadcastPacer.SLICE);
  }

  @Test
  void an_error_of_one_device_is_answered_and_the_devices_behind_it_get_the_message() {
    devices(2 * BroadcastPacer.SLICE, QoS.AT_LEAST_ONCE);
    clients.get(5).breaks = true;

    broadcast(room(ROOM));
    loop.turn();
    while (answers.size() < clients.size()) {
      acknowledgeOne();
      loop.turn();
    }

    assertThat(answers.remove(5)).isEqualTo(Result.TIMEOUT);
    assertThat(answers).doesNotContainValue(Result.TIMEOUT);
    assertThat(meters.get("cm.delivery.targets.open").gauge().value()).isZero();
  }

  @Test
  void at_qos_1_packets_differ_in_nothing_but_their_ids() {
    devices(2, QoS.AT_LEAST_ONCE);

    broadcast(Long.MAX_VALUE);
    broadcast(Long.MAX_VALUE);
    loop.turn();

    byte[] first = clients.getFirst().sent.getFirst();
    byte[] second = clients.getFirst().sent.getLast();
    assertThat(clients.getLast().sent.getFirst()).isEqualTo(first).isNotSameAs(first);
    assertThat(second).hasSameSizeAs(first);
    int different = 0;
    for (int at = 0; at < first.length; at++) {
      different += first[at] == second[at] ? 0 : 1;
    }
    assertThat(different).isOne();
  }

  private static final class Client extends QuietClient {
    boolean breaks;

    Client(Loop loop) {
      super(loop, MqttVersion.V3_1_1);
    }

    @Override
    public void sendEncoded(byte[] packet) {
      if (breaks) {
        throw new NoClassDefFoundError("for the test");
      }
      super.sendEncoded(packet);
    }
  }

  private static long room(int messages) {
    return (long) messages * (BroadcastPacer.KERNEL_BYTES + PAYLOAD.length());
  }

  private void devices(int count, QoS qos) {
    var shared = SessionBuilder.shared(sessionMetrics, clock);
    for (int number = 0; number < count; number++) {
      var client = new Client(loop);
      clients.add(client);
      var session = aSession(key(number)).at(client, shared);
      session.subscribe(Subscription.of(qos, 0));
      table.put(session);
    }
  }

  private void broadcast(long mostBytes) {
    broadcast(mostBytes, Duration.ofSeconds(10));
  }

  private void broadcast(long mostBytes, Duration patience) {
    var message = PushBuilder.aPush(clock).build().id();
    List<DeviceId> devices = new ArrayList<>();
    List<Long> epochs = new ArrayList<>();
    for (int number = 0; number < clients.size(); number++) {
      devices.add(key(number).device());
      epochs.add(1L);
    }
    new BroadcastDispatch(
            new FrameTargets.Shared(
                table,
                permits,
                new DeliverySettings(
                    "gateway", new Secret("x"), 10_000, 8, mostBytes, Duration.ofSeconds(30)),
                new DeliveryMetrics(meters),
                clock,
                loop::nowNanos,
                new NoOwnershipDoubts()))
        .dispatch(
            new NodeBroadcast(
                "1",
                clock.instant().plus(patience),
                new NodeFrame.Message(message, clock.instant().plusSeconds(3_600), PAYLOAD),
                APP,
                devices,
                epochs),
            (_, outcome) ->
                assertThat(answers.put(outcome.target(), outcome.result()))
                    .as("answered twice: %s", outcome)
                    .isNull());
  }

  private int sent() {
    return clients.stream().mapToInt(client -> client.sent.size()).sum();
  }

  /// Acknowledges for the first device that has an unanswered message.
  private void acknowledgeOne() {
    for (int number = 0; number < clients.size(); number++) {
      Client client = clients.get(number);
      if (!client.sent.isEmpty() && !answers.containsKey(number)) {
        Objects.requireNonNull(table.find(key(number)))
            .acknowledged(client.lastPacketId(), ReasonCode.SUCCESS);
        return;
      }
    }
    throw new AssertionError("nobody has anything to acknowledge");
  }

  private void flushed() {
    table.all().forEach(DeviceSession::flushed);
  }

  private static DeviceKey key(int number) {
    return new DeviceKey(APP, new DeviceId("d" + number));
  }
}
