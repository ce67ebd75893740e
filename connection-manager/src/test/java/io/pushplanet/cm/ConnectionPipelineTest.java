package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.Elsewhere;
import io.pushplanet.cm.handshake.DeviceHandshake;
import io.pushplanet.cm.inbox.InboxPage;
import io.pushplanet.cm.inbox.InboxRow;
import io.pushplanet.cm.inbox.ParkedMessages;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.MqttPeer;
import io.pushplanet.cm.session.DetachedWindows;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.Directory;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.Letter;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.Registrar;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.uplink.Uplinks;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices.Notice;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Devices' connections on a loop, a line to Redis and a timer that are turned by hand.
class ConnectionPipelineTest {
  private static final AppId APP = new AppId("shop");
  private static final int MOST_EVENTS = 100;
  private static final int UPLINKS_IN_FLIGHT = 4;

  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final DeviceCredential credential =
      new DeviceCredential(MasterKey.parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), clock);
  private final HandLoop loop = new HandLoop();
  private final Queue<Runnable> redis = new ArrayDeque<>();
  private final List<Runnable> due = new ArrayList<>();
  private final List<DeliveryEvent> told = new ArrayList<>();
  private final List<Runnable> confirms = new ArrayList<>();
  private final SessionTable table = new SessionTable();
  private final SessionMetrics metrics = new SessionMetrics(meters);
  private final SessionLimits limits =
      new SessionLimits(16, 128, Duration.ofSeconds(2), Duration.ZERO, Duration.ofMinutes(1));
  private final Registrar registrar =
      new Registrar(
          new Epochs(),
          new NodeId("a"),
          table,
          _ -> List.of(),
          metrics,
          meters,
          clock,
          new Registrar.Settings(
              100,
              Duration.ofSeconds(5),
              Duration.ofSeconds(1),
              Duration.ofMinutes(5),
              Duration.ofMinutes(30)),
          Runnable::run,
          redis::add,
          (_, _) -> {});

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void one_device_that_publishes_at_qos_0_leaves_room_for_the_others_events(MqttVersion version) {
    var pipeline = pipeline(10);
    var flood = connected(pipeline, version, "flood");
    for (int count = 0; count < 10_000; count++) {
      flood.receive(uplink(0));
    }

    var other = connected(pipeline, version, "other");
    other.receive(uplink(1));

    assertThat(told).hasSize(UPLINKS_IN_FLIGHT + 1);
    assertThat(other.open).isTrue();
    assertThat(flood.paused).isTrue();
    confirms.getFirst().run();
    loop.turn();
    assertThat(flood.paused).as("after a confirm").isFalse();
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_device_that_connects_again_does_not_get_its_share_of_qos_0_publishes_anew(
      MqttVersion version) {
    var pipeline = pipeline(10);
    for (int time = 0; time < 10; time++) {
      var flood = connected(pipeline, version, "flood");
      for (int count = 0; count < UPLINKS_IN_FLIGHT; count++) {
        flood.receive(uplink(0));
      }
    }
    assertThat(told).hasSize(UPLINKS_IN_FLIGHT);

    var again = connected(pipeline, version, "flood");
    again.receive(uplink(1));
    connected(pipeline, version, "other").receive(uplink(0));
    assertThat(told).as("at QoS 1, and another device's").hasSize(UPLINKS_IN_FLIGHT + 2);
    confirms.getFirst().run();
    again.receive(uplink(0));
    again.receive(uplink(0));
    assertThat(told).as("one in the place of one").hasSize(UPLINKS_IN_FLIGHT + 3);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_device_whose_qos_0_publishes_wait_in_vain_is_read_again_and_they_are_dropped(
      MqttVersion version) {
    var client = connected(pipeline(10), version, "d1");
    for (int count = 0; count < UPLINKS_IN_FLIGHT; count++) {
      client.receive(uplink(0));
    }

    client.sweep(TimeUnit.SECONDS.toNanos(4));
    assertThat(client.paused).isTrue();
    client.sweep(TimeUnit.SECONDS.toNanos(6));
    assertThat(client.paused).isFalse();

    client.receive(uplink(0));
    assertThat(client.paused).isFalse();
    assertThat(told).hasSize(UPLINKS_IN_FLIGHT);
    confirms.getFirst().run();
    loop.turn();
    client.receive(uplink(0));
    assertThat(told).hasSize(UPLINKS_IN_FLIGHT + 1);
  }

  @Test
  void a_3_1_1_client_is_not_closed_when_rubbish_takes_the_last_place_in_its_window() {
    var client = connected(pipeline(10), MqttVersion.V3_1_1, "d1");
    for (int id = 1; id < UPLINKS_IN_FLIGHT; id++) {
      client.receive(uplink(id));
    }

    client.receive(
        new MqttPacket.Publish(
            Uplinks.RECEIPTS,
            Binary.of("rubbish"),
            QoS.AT_LEAST_ONCE,
            false,
            false,
            UPLINKS_IN_FLIGHT,
            MqttProperties.NONE));

    assertThat(client.open).isTrue();
    assertThat(client.paused).isTrue();
  }

  @Test
  void what_is_published_at_qos_0_does_not_exceed_a_receive_maximum() {
    var client = connected(pipeline(10), MqttVersion.V5, "d1");
    for (int id = 0; id < UPLINKS_IN_FLIGHT - 1; id++) {
      client.receive(uplink(0));
    }

    for (int id = 1; id <= UPLINKS_IN_FLIGHT; id++) {
      client.receive(uplink(id));
      confirms.removeFirst().run();
      loop.turn();
    }
    client.receive(uplink(UPLINKS_IN_FLIGHT + 1));
    assertThat(client.open).isTrue();
    client.receive(uplink(UPLINKS_IN_FLIGHT + 2));

    assertThat(client.open).as("one more than it was told").isFalse();
  }

  @Test
  void a_3_1_1_client_with_a_full_window_reads_on_when_there_is_room_in_it_again() {
    var client = connected(pipeline(10), MqttVersion.V3_1_1, "d1");
    for (int id = 1; id <= UPLINKS_IN_FLIGHT; id++) {
      client.receive(uplink(id));
    }

    confirms.get(1).run();
    loop.turn();
    assertThat(client.paused).as("the first one is not confirmed").isTrue();
    confirms.get(0).run();
    loop.turn();

    assertThat(client.paused).isFalse();
    assertThat(client.packets).filteredOn(MqttPacket.PubAck.class::isInstance).hasSize(2);
  }

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

  @Test
  void mqtt_3_1_3_9_a_delayed_will_is_not_told_of_a_device_that_a_second_connection_has_here() {
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
  void mqtt_3_1_4_3_a_clean_start_tells_the_delayed_will_of_the_session_that_it_ends() {
    var pipeline = pipeline(10);
    connected(pipeline, MqttVersion.V5, "d1", will(60));

    connected(pipeline, MqttVersion.V5, "d1", will(60));

    assertThat(told).hasSize(1);
    assertThat(due).isEmpty();
  }

  @Test
  void mqtt_3_1_3_9_who_takes_its_session_up_again_calls_the_delayed_will_off() {
    var pipeline = pipeline(10);
    connected(pipeline, MqttVersion.V5, "d1", will(60));

    var back = resuming(pipeline, "d1", will(60));
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
  }

  @Test
  void mqtt_3_2_2_20_when_to_come_back_is_told_to_whoever_has_room_for_it() {
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

  @Test
  void a_frame_that_finds_a_session_which_is_refused_is_answered() {
    var device = new DeviceKey(APP, new DeviceId("d1"));
    var refused = connecting(pipeline(10), MqttVersion.V5, "d1", null);
    registrar.takenOver(new Notice(device, new SessionOwner(new NodeId("b"), 1_000)));
    List<DeviceSession> found = new ArrayList<>();
    var former =
        new Client(
            new HandLoop() {
              @Override
              public void execute(Runnable task) {
                found.add(table.find(device));
              }
            });
    table.put(
        new DeviceSession(
            device,
            0,
            new SessionTerms(16, 1 << 20, 0),
            new DeviceSession.Shared(limits, metrics, new LateAcknowledgements(1), clock),
            former));

    letGo();
    List<Settlement> settled = new ArrayList<>();
    found
        .getFirst()
        .offer(
            new OutboundMessage(
                new Letter(
                    new MessageId("0190b8a0-0000-7000-8000-000000000001"),
                    Binary.of("hello"),
                    clock.millis() + 60_000),
                OutboundMessage.NO_DEADLINE,
                new OutboundMessage.Origin() {
                  @Override
                  public void written() {
                    throw new AssertionError("to a session that is refused");
                  }

                  @Override
                  public void settled(OutboundMessage message, Settlement settlement) {
                    settled.add(settlement);
                  }
                }));

    assertThat(refused.refusal).isEqualTo(ReasonCode.SERVER_BUSY);
    assertThat(settled).containsExactly(new Settlement.NotHere());
  }

  private ConnectionPipeline pipeline(int mostSessions) {
    var gate = new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(1));
    return new ConnectionPipeline(
        new DeviceHandshake(credential, 16, UPLINKS_IN_FLIGHT, 4_608, Uplinks.UPLINK),
        new Admission(mostSessions, new Elsewhere("", new SplittableRandom(2)), gate, meters),
        registrar,
        table,
        new DetachedWindows(),
        new LateAcknowledgements(LateAcknowledgements.MOST),
        limits,
        metrics,
        new NothingParked(),
        new Uplinks(this::tell, 4_096, UPLINKS_IN_FLIGHT, clock, new SplittableRandom(3), meters),
        new ConnectionPipeline.Limits(PacketLimits.UNAUTHENTICATED, UPLINKS_IN_FLIGHT),
        clock,
        (_, task) -> {
          due.add(task);
          return () -> due.remove(task);
        });
  }

  private boolean tell(DeliveryEvent event, Runnable confirmed) {
    if (told.size() == MOST_EVENTS) {
      return false;
    }
    told.add(event);
    confirms.add(confirmed);
    return true;
  }

  private Client connected(ConnectionPipeline pipeline, MqttVersion version, String device) {
    return connected(pipeline, version, device, null);
  }

  private Client connected(
      ConnectionPipeline pipeline, MqttVersion version, String device, @Nullable Will will) {
    var client = connecting(pipeline, version, device, will);
    letGo();
    assertThat(client.packets).hasAtLeastOneElementOfType(MqttPacket.ConnAck.class);
    return client;
  }

  /// Its claim stands in line.
  private Client connecting(
      ConnectionPipeline pipeline, MqttVersion version, String device, @Nullable Will will) {
    return connecting(pipeline, version, true, device, will);
  }

  /// The same of one that goes on with its session.
  private Client resuming(ConnectionPipeline pipeline, String device, Will will) {
    return connecting(pipeline, MqttVersion.V5, false, device, will);
  }

  private Client connecting(
      ConnectionPipeline pipeline,
      MqttVersion version,
      boolean clean,
      String device,
      @Nullable Will will) {
    var lasting = MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600);
    return connecting(pipeline, version, clean, device, will, lasting);
  }

  private Client connecting(
      ConnectionPipeline pipeline, MqttVersion version, String device, int largestPacket) {
    var small = MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, largestPacket);
    return connecting(pipeline, version, true, device, null, small);
  }

  private Client connecting(
      ConnectionPipeline pipeline,
      MqttVersion version,
      boolean clean,
      String device,
      @Nullable Will will,
      MqttProperties properties) {
    var client = new Client(loop);
    client.comesIn(pipeline, version);
    client.receive(
        new MqttPacket.Connect(
            version,
            clean,
            60,
            device,
            APP.value(),
            Binary.of(credential.mint(APP, new DeviceId(device), Duration.ofDays(1))),
            will,
            properties));
    loop.turn();
    return client;
  }

  private void letGo() {
    for (var next = redis.poll(); next != null; next = redis.poll()) {
      next.run();
      loop.turn();
    }
  }

  private static Will will(int delaySeconds) {
    return new Will(
        Uplinks.UPLINK,
        Binary.of("gone"),
        QoS.AT_LEAST_ONCE,
        false,
        MqttProperties.with(PropertyId.WILL_DELAY_INTERVAL, delaySeconds));
  }

  private static MqttPacket goodbye(ReasonCode reason) {
    return new MqttPacket.Disconnect(reason, MqttProperties.NONE);
  }

  private static MqttPacket uplink(int packetId) {
    return new MqttPacket.Publish(
        Uplinks.UPLINK,
        Binary.of("up"),
        packetId == 0 ? QoS.AT_MOST_ONCE : QoS.AT_LEAST_ONCE,
        false,
        false,
        packetId,
        MqttProperties.NONE);
  }

  private static class HandLoop implements Loop {
    private final Queue<Runnable> tasks = new ArrayDeque<>();

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    @Override
    public long nowNanos() {
      return 0;
    }

    void turn() {
      for (var next = tasks.poll(); next != null; next = tasks.poll()) {
        next.run();
      }
    }
  }

  /// A device's socket: what comes while reading is paused stays in it unread.
  private static final class Client extends QuietClient {
    private final List<MqttPacket> packets = new ArrayList<>();
    private MqttVersion version = MqttVersion.V5;
    private @Nullable MqttPeer peer;
    private @Nullable ReasonCode refusal;
    private MqttProperties refusalTold = MqttProperties.NONE;
    private boolean open = true;
    private boolean paused;

    Client(Loop loop) {
      super(loop);
    }

    void comesIn(ConnectionPipeline pipeline, MqttVersion spoken) {
      version = spoken;
      peer = pipeline.accepted(this);
    }

    void receive(MqttPacket packet) {
      if (open && !paused && peer != null) {
        peer.packet(packet);
      }
    }

    void sweep(long nowNanos) {
      if (peer != null) {
        peer.swept(nowNanos);
      }
    }

    private void end() {
      if (open) {
        open = false;
        if (peer != null) {
          peer.closed();
        }
      }
    }

    @Override
    public boolean isOpen() {
      return open;
    }

    @Override
    public boolean isV5() {
      return version == MqttVersion.V5;
    }

    @Override
    public void pauseReading() {
      paused = true;
    }

    @Override
    public void resumeReading() {
      paused = false;
    }

    @Override
    public void send(MqttPacket packet) {
      packets.add(packet);
    }

    @Override
    public byte[] encode(MqttPacket packet) {
      return new PacketEncoder().encode(packet, version);
    }

    @Override
    public void refuseConnect(MqttVersion spoken, ReasonCode reason, MqttProperties properties) {
      refusal = reason;
      refusalTold = properties;
      end();
    }

    @Override
    public void disconnect(ReasonCode reason, String why) {
      end();
    }

    @Override
    public void disconnect(ReasonCode reason, MqttProperties properties) {
      end();
    }

    @Override
    public void close() {
      end();
    }
  }

  /// Each claim has a higher one than all before it.
  private static final class Epochs implements Directory {
    private final AtomicLong last = new AtomicLong();

    @Override
    public List<Answer> carryOut(List<Order> orders) {
      return orders.stream()
          .<Answer>map(
              _ -> new Answer.Claimed(last.incrementAndGet(), Optional.empty(), Optional.empty()))
          .toList();
    }

    @Override
    public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
      return Map.of();
    }

    @Override
    public Map<DeviceKey, SessionOwner> announce(Map<DeviceKey, Long> epochs) {
      return Map.of();
    }
  }

  private static final class NothingParked implements ParkedMessages {
    @Override
    public void read(DeviceKey device, Loop loop, Consumer<InboxPage> then) {
      then.accept(new InboxPage.Rows(List.of(), false));
    }

    @Override
    public void written(long tookNanos) {
      throw new AssertionError("nothing is parked");
    }

    @Override
    public void delivered(InboxRow row, Then then) {
      throw new AssertionError("nothing is parked");
    }

    @Override
    public void failed(InboxRow row, String reason, Then then) {
      throw new AssertionError("nothing is parked");
    }

    @Override
    public void over(InboxRow row, Then then) {
      throw new AssertionError("nothing is parked");
    }
  }
}
