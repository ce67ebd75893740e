package io.pushplanet.cm.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.ServerReferences;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.cm.transport.AtOnceLoop;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DrainTest {
  private static final String OTHER = "node-2.push.example.org:1883";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration NOTICE = Duration.ofHours(1);
  private static final Duration TURN = Duration.ofMillis(50);

  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final SessionTable table = new SessionTable();
  private final ServerReferences serverReferences =
      new ServerReferences(OTHER, new SplittableRandom(1));
  private final Admission admission =
      new Admission(
          10, serverReferences, new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(2)));
  private final HandTimer timer = new HandTimer();
  private final AtomicInteger announcements = new AtomicInteger();
  private final Drain drain =
      new Drain(
          table,
          admission,
          serverReferences,
          new NodeSettings.Drain(1, NOTICE, Duration.ofSeconds(3), Duration.ofSeconds(10)),
          clock,
          timer::nowNanos,
          announcements::incrementAndGet,
          timer);

  @Test
  void a_device_whose_claim_outlasts_the_drain_is_sent_elsewhere_too() {
    drain.begin(500);
    timer.advance(NOTICE);
    assertThat(drain.progress().state()).isEqualTo(Drain.State.EMPTY);

    var late = comes("d1", 1 << 20);
    timer.advance(TURN);
    assertThat(drain.progress().state()).isEqualTo(Drain.State.MOVING);
    timer.advance(TURN);

    assertThat(late.told).containsExactly(ReasonCode.USE_ANOTHER_SERVER);
    assertThat(drain.progress().state()).isEqualTo(Drain.State.EMPTY);
  }

  @Test
  void mqtt_3_1_2_24_no_server_reference_goes_to_a_client_that_takes_only_short_packets() {
    var brief = comes("d1", 32);
    var other = comes("d2", 1 << 20);

    drain.begin(500);
    timer.advance(NOTICE.plus(TURN));

    assertThat(other.references).containsExactly(OTHER);
    assertThat(brief.references).containsExactly("");
  }

  @Test
  void devices_are_sent_away_after_the_notice_at_the_set_rate() {
    var devices = come(100);
    drain.begin(10);

    timer.advance(NOTICE.minusMillis(1));
    assertThat(drain.progress().state()).isEqualTo(Drain.State.CLOSING);
    assertThat(told(devices)).isZero();
    timer.advance(Duration.ofMillis(1));
    assertThat(told(devices)).as("one at once").isOne();
    timer.advance(Duration.ofSeconds(5));
    assertThat(told(devices)).isBetween(50L, 51L);

    drain.begin(20);
    timer.advance(Duration.ofSeconds(1));

    assertThat(told(devices)).isBetween(70L, 71L);
    assertThat(drain.progress().told()).isEqualTo(told(devices));
  }

  @Test
  void a_device_on_a_slow_loop_is_counted_once() {
    var loop = new HandLoop();
    var slow = comes(new Client(loop), "d1", 1 << 20);
    drain.begin(500);

    timer.advance(NOTICE.plus(TURN));
    assertThat(loop.tasks()).as("it was given the device again").isGreaterThan(1);
    assertThat(drain.progress().told()).isZero();
    loop.turn();

    assertThat(slow.told).hasSize(1);
    assertThat(drain.progress().told()).isOne();
  }

  @Test
  void after_a_stall_the_missed_devices_are_not_all_sent_away_at_once() {
    var devices = come(100);
    drain.begin(10);
    timer.advance(NOTICE);

    timer.stall(Duration.ofMinutes(1));
    timer.advance(Duration.ZERO);

    assertThat(told(devices)).as("those of one second").isEqualTo(1 + 10);
  }

  @Test
  void a_drain_that_is_cancelled_during_the_notice_sends_no_device_away() {
    var devices = come(3);
    drain.begin(500);
    timer.advance(Duration.ofSeconds(1));
    assertThat(admission.isDraining()).isTrue();
    assertThat(announcements).hasValue(1);

    drain.cancel();
    timer.advance(NOTICE);

    assertThat(told(devices)).isZero();
    assertThat(drain.progress().state()).isEqualTo(Drain.State.OPEN);
    assertThat(admission.isDraining()).isFalse();
    assertThat(announcements).hasValue(2);
  }

  @Test
  void a_stop_cuts_the_notice_short_and_raises_the_rate_to_what_its_time_needs() throws Exception {
    var devices = come(60);
    drain.begin(1);

    var stop = Thread.ofPlatform().start(this::finishInTime);

    Eventually.within(
        PATIENCE,
        () -> {
          timer.advance(Duration.ofSeconds(10));
          assertThat(stop.isAlive()).isFalse();
        });
    assertThat(drain.progress().perSecond()).as("in half of the time").isEqualTo(2);
    assertThat(told(devices)).isEqualTo(60);
    assertThat(timer.nowNanos()).isBetween(29_000_000_000L, NOTICE.toNanos());
  }

  private void finishInTime() {
    try {
      drain.finishWithin(PATIENCE);
    } catch (InterruptedException stopped) {
      throw new AssertionError(stopped);
    }
  }

  private List<Client> come(int devices) {
    return IntStream.range(0, devices).mapToObj(number -> comes("d" + number, 1 << 20)).toList();
  }

  private static long told(List<Client> devices) {
    return devices.stream().mapToInt(device -> device.told.size()).sum();
  }

  private Client comes(String device, int largestPacket) {
    return comes(new Client(new AtOnceLoop()), device, largestPacket);
  }

  private Client comes(Client client, String device, int largestPacket) {
    client.session =
        new DeviceSession(
            new DeviceKey(new AppId("shop"), new DeviceId(device)),
            1,
            Long.MAX_VALUE,
            new SessionTerms(16, largestPacket, 0),
            new DeviceSession.Shared(
                new SessionLimits(
                    16, 128, Duration.ofSeconds(2), Duration.ZERO, Duration.ofMinutes(1)),
                new SessionMetrics(meters),
                new LateAcknowledgements(1, _ -> {}),
                clock),
            client);
    table.put(client.session);
    return client;
  }

  private final class Client extends QuietClient {
    private final List<ReasonCode> told = new ArrayList<>();
    private final List<String> references = new ArrayList<>();
    private DeviceSession session;

    Client(Loop loop) {
      super(loop);
    }

    @Override
    public void retire() {
      table.remove(session);
    }

    @Override
    public byte[] encode(MqttPacket packet) {
      throw new AssertionError("nothing is sent");
    }

    @Override
    public void disconnect(ReasonCode reason, MqttProperties properties) {
      told.add(reason);
      references.add(properties.text(PropertyId.SERVER_REFERENCE).orElse(""));
    }
  }

  /// Time passes when the test says so.
  private static final class HandTimer implements Registrar.Timer {
    private final PriorityQueue<Later> later =
        new PriorityQueue<>(Comparator.comparingLong(Later::dueNanos));
    private long nowNanos;

    private record Later(long dueNanos, Runnable task) {}

    @Override
    public synchronized void after(Duration delay, Runnable task) {
      later.add(new Later(nowNanos + delay.toNanos(), task));
    }

    synchronized long nowNanos() {
      return nowNanos;
    }

    /// Time passes, and the tasks that are due in it run late.
    synchronized void stall(Duration length) {
      nowNanos += length.toNanos();
    }

    synchronized void advance(Duration length) {
      long end = nowNanos + length.toNanos();
      for (Later next = later.peek(); next != null && next.dueNanos() <= end; next = later.peek()) {
        later.remove();
        nowNanos = Math.max(nowNanos, next.dueNanos());
        next.task().run();
      }
      nowNanos = end;
    }
  }
}
