package io.pushplanet.cm.simulator;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.ConnectionPipeline;
import io.pushplanet.cm.InboundFlow;
import io.pushplanet.cm.Reception;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.AdmissionMetrics;
import io.pushplanet.cm.admission.ServerReferences;
import io.pushplanet.cm.delivery.Answers;
import io.pushplanet.cm.delivery.BroadcastDispatch;
import io.pushplanet.cm.delivery.DeliveryMetrics;
import io.pushplanet.cm.delivery.DeliverySettings;
import io.pushplanet.cm.delivery.FrameDispatch;
import io.pushplanet.cm.delivery.FrameTargets;
import io.pushplanet.cm.delivery.TargetPermits;
import io.pushplanet.cm.directory.DirectorySettings;
import io.pushplanet.cm.directory.LeaseWatch;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.handshake.DeviceHandshake;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.session.DetachedWindows;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.Repeats;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.EventLoop;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.DeviceRates;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.uplink.DelayedWills;
import io.pushplanet.cm.uplink.UplinkMetrics;
import io.pushplanet.cm.uplink.Uplinks;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// A node made of the production classes (pipeline, sessions, registrar, frame dispatch, inbox
/// drain) on simulated loops, sockets and stores. It replaces the production configurations and
/// timers.
final class SimNode {
  private static final MeterRegistry METERS = new CompositeMeterRegistry();
  private static final MeterRegistry DIRECTORY_METERS = new SimpleMeterRegistry();
  private static final Counter UNANSWERED =
      DIRECTORY_METERS.counter("cm.session.takeovers.unanswered");
  private static final SessionMetrics SESSION_METRICS = new SessionMetrics(METERS);
  private static final AdmissionMetrics ADMISSION_METRICS = new AdmissionMetrics(METERS);
  private static final UplinkMetrics UPLINK_METRICS = new UplinkMetrics(METERS);
  private static final SessionLimits LIMITS =
      new SessionLimits(
          3, 8, Duration.ofSeconds(2), Duration.ofSeconds(20), Duration.ofSeconds(15));
  private static final int HEARTBEAT_MILLIS = 3_000;
  private static final int LOOPS = 2;
  private static final int TOGETHER_MILLIS = 30;
  private static final Duration FORMER_WITHIN = Duration.ofSeconds(2);

  final NodeId id;
  final Ledger ledger;
  private final List<SimLoop> loops;
  final ConnectionPipeline pipeline;
  final SessionTable table = new SessionTable();
  boolean alive = true;
  boolean frozen;
  boolean cutFromRedis;
  private final World world;
  private final Stores stores;
  private final Set<Bug> bugs;
  private final Registrar registrar;
  private final FrameDispatch dispatch;
  private final BroadcastDispatch broadcasts;
  private final LeaseWatch lease = new LeaseWatch();
  private final long skewMillis;
  private final List<Runnable> waiting = new ArrayList<>();
  private final List<Runnable> unheard = new ArrayList<>();
  // Sessions whose device another node owned when this one woke up: they must do nothing any more.
  private final Set<DeviceSession> forbidden = Collections.newSetFromMap(new IdentityHashMap<>());
  private final List<Check> checks = new ArrayList<>();
  private long frozenNanos;
  private long lastHeardMicros;

  /// A loop that stood still compares its sessions.
  ///
  /// @param elsewhere sessions of the loop whose device another node owns
  private record Check(SimLoop loop, List<DeviceSession> elsewhere) {}

  SimNode(
      NodeId id,
      World world,
      Stores stores,
      Ledger ledger,
      DeviceHandshake handshake,
      Set<Bug> bugs) {
    this.id = id;
    this.world = world;
    this.stores = stores;
    this.ledger = ledger;
    this.bugs = bugs;
    this.skewMillis = world.below(20);
    this.loops = Stream.generate(() -> new SimLoop(world, this)).limit(LOOPS).toList();
    InstantSource clock = () -> Instant.ofEpochMilli(clockMillis());
    var patrol =
        bugs.contains(Bug.NO_LOOK_AFTER_PARKING) ? Duration.ofDays(1) : Duration.ofSeconds(30);
    registrar =
        new Registrar(
            bugs.contains(Bug.NO_FENCING)
                ? stores.new Unfenced(this)
                : stores.new DirectoryOf(this),
            id,
            table,
            stores::parkedAmong,
            DIRECTORY_METERS,
            clock,
            new DirectorySettings(
                100,
                Duration.ofSeconds(5),
                FORMER_WITHIN,
                Duration.ZERO,
                stores.verifyEvery,
                patrol),
            this::onWorker,
            task -> work(0, TOGETHER_MILLIS, task),
            (delay, task) -> work(delay.toMillis(), delay.toMillis(), () -> waitedFor(task)));
    // Room for two packets of broadcasts, so that they are paced.
    var delivery =
        new DeliverySettings("gateway", new Secret("x"), 100, 8, 3_000, Duration.ofSeconds(30));
    var targetsShared =
        new FrameTargets.Shared(
            table,
            new TargetPermits(100, METERS),
            delivery,
            new DeliveryMetrics(METERS),
            clock,
            gatewayLoop()::nowNanos,
            registrar);
    dispatch = new FrameDispatch(targetsShared);
    broadcasts = new BroadcastDispatch(targetsShared);
    var uplinks = new Uplinks((_, _) -> true, 4_096, 16, clock, world.random, UPLINK_METRICS);
    pipeline =
        new ConnectionPipeline(
            new Reception(
                handshake,
                new Admission(
                    1_000,
                    new ServerReferences("", world.random),
                    new AcceptGate(GateSettings.OPEN, 0, world.random)),
                ADMISSION_METRICS,
                table,
                registrar),
            registrar,
            table,
            new DetachedWindows(clock),
            new DeviceSession.Shared(
                LIMITS,
                SESSION_METRICS,
                new LateAcknowledgements(
                    bugs.contains(Bug.LATE_ACKNOWLEDGEMENTS_FORGOTTEN)
                        ? 1
                        : LateAcknowledgements.MAX,
                    _ -> {}),
                new Repeats(),
                clock,
                // Ids of former sessions come again, which in life is rare.
                _ -> 0),
            stores.new InboxOf(this),
            new InboundFlow.Shared(
                uplinks, new DeviceRates(0, 1, 0, 1), UPLINK_METRICS, ADMISSION_METRICS, 8),
            new DelayedWills(
                (delay, task) -> {
                  work(delay.toMillis(), delay.toMillis(), task);
                  return () -> {};
                },
                registrar::unlessElsewhere,
                uplinks::will),
            PacketLimits.UNAUTHENTICATED);
    if (!bugs.contains(Bug.NO_FENCING)) {
      stores.subscribe(id, told -> hear(() -> registrar.hear(told)), this::redisIsBack);
    }
    heartbeat();
    verifyLater();
  }

  private SimLoop gatewayLoop() {
    return loops.getFirst();
  }

  /// As the kernel distributes connections among listeners of one port.
  SimLoop anyLoop() {
    return loops.get(world.below(LOOPS));
  }

  long clockMillis() {
    return world.nowMillis() + skewMillis;
  }

  /// A later task of a thread of this process. It never runs if the process is killed, and runs
  /// after the thaw if the process is frozen.
  void work(long leastMillis, long mostMillis, Runnable what) {
    world.after(
        leastMillis,
        mostMillis,
        () -> {
          if (frozen) {
            waiting.add(what);
          } else if (alive) {
            what.run();
          }
        });
  }

  /// Notices arrive on one thread, in their order.
  private void hear(Runnable notice) {
    if (cutFromRedis) {
      return;
    }
    lastHeardMicros = Math.max(lastHeardMicros, world.nowMicros() + world.below(5_000));
    world.at(
        lastHeardMicros,
        () -> {
          if (frozen) {
            unheard.add(notice);
          } else if (alive) {
            notice.run();
          }
        });
  }

  private void onWorker(Runnable task) {
    if (!checks.isEmpty()) {
      task.run();
    } else {
      work(0, 10, task);
    }
  }

  private void heartbeat() {
    if (stores.redisAway || cutFromRedis) {
      registrar.away(new RedisUnavailable("away", null));
    } else {
      var now = Instant.ofEpochMilli(clockMillis());
      if (lease.mayHaveMissed(now, now, stores.heartbeat(id))) {
        registrar.lapsed();
      }
    }
    work(HEARTBEAT_MILLIS, HEARTBEAT_MILLIS, this::heartbeat);
  }

  private void verifyLater() {
    var pause = registrar.pause();
    work(
        pause.toMillis(),
        pause.toMillis(),
        () -> {
          registrar.compareNext(pause);
          verifyLater();
        });
  }

  void redisIsBack() {
    work(0, 500, registrar::compareAll);
  }

  void freeze() {
    stores.troubled();
    stores.outOfReach += frozen ? 0 : 1;
    frozen = true;
    frozenNanos = world.nowNanos();
  }

  void thaw() {
    world.tell(id.value(), "thaws");
    stores.troubled();
    stores.outOfReach -= frozen ? 1 : 0;
    frozen = false;
    if (world.nowNanos() - frozenNanos > EventLoop.STANDSTILL.toNanos()) {
      checks.forEach(check -> check.elsewhere.addAll(elsewhere(check.loop)));
    }
    waiting.forEach(what -> work(0, 5, what));
    waiting.clear();
    var words = List.copyOf(unheard);
    unheard.clear();
    words.forEach(this::hear);
    loops.forEach(SimLoop::wake);
  }

  /// A machine that is paused often is paused again soon.
  void maybeStopAgain() {
    if (!checks.isEmpty() && !stores.mended && world.chance(0.3)) {
      world.tell(id.value(), "freezes again");
      freeze();
      world.after(200, 8_000, this::thaw);
    }
  }

  void kill() {
    stores.troubled();
    stores.outOfReach -= frozen ? 1 : 0;
    frozen = false;
    alive = false;
    stores.unsubscribe(id);
    loops.forEach(SimLoop::breakAll);
  }

  /// Before anything that waited in the kernel is read.
  long stoodStill(SimLoop loop, Duration gap) {
    var check = new Check(loop, new ArrayList<>(elsewhere(loop)));
    int losses = stores.losses;
    long since = world.nowNanos();
    if (!bugs.contains(Bug.NO_CHECK_AFTER_STANDSTILL)) {
      checks.add(check);
      since = compared(loop, gap);
      checks.remove(check);
    }
    // The node cannot know of an owner that Redis forgot between the two looks: that owner
    // announces itself again. And a device that the other node released meanwhile is this node's
    // again.
    if (registrar.isReachable() && losses == stores.losses) {
      check.elsewhere.retainAll(elsewhere(loop));
      forbidden.addAll(check.elsewhere);
    }
    return since;
  }

  private long compared(SimLoop loop, Duration gap) {
    if (bugs.contains(Bug.NO_CHECK_WHILE_COMPARING)) {
      long begunNanos = world.nowNanos();
      registrar.stoodStill(loop, gap, () -> begunNanos);
      return world.nowNanos();
    }
    return registrar.stoodStill(loop, gap, world::nowNanos);
  }

  private List<DeviceSession> elsewhere(SimLoop loop) {
    return table.all().stream()
        .filter(session -> session.loop().equals(loop))
        .filter(session ->
            Fencing.judge(id, session.epoch(), stores.owners.get(session.key()))
                instanceof Fencing.Tenure.Lost)
        .toList();
  }

  void frame(NodeFrame frame, Answers answers) {
    gatewayLoop()
        .execute(() ->
            dispatch.dispatch(
                frame,
                (name, outcome) -> {
                  if (outcome.result() == Result.DELIVERED) {
                    var target = frame.targets().get(outcome.target());
                    watch(
                        new DeviceKey(target.app(), target.device()),
                        "believed an acknowledgement");
                  }
                  answers.answer(name, outcome);
                }));
  }

  void broadcast(NodeBroadcast frame, Answers answers) {
    gatewayLoop()
        .execute(() ->
            broadcasts.dispatch(
                frame,
                (name, outcome) -> {
                  if (outcome.result() == Result.DELIVERED) {
                    var device = new DeviceKey(frame.app(), frame.devices().get(outcome.target()));
                    watch(device, "believed an acknowledgement");
                  }
                  answers.answer(name, outcome);
                }));
  }

  void drain(DeviceKey device) {
    gatewayLoop().execute(() -> pipeline.drain(device));
  }

  /// The time in which a former owner had to confirm a release is over.
  private void waitedFor(Runnable goesOn) {
    double before = UNANSWERED.count();
    goesOn.run();
    if (UNANSWERED.count() > before && stores.isCalm()) {
      world.tell(id.value(), "waits in vain");
      ledger.violation(id + " waits in vain for a node that had a device");
    }
  }

  void wrote(DeviceKey device) {
    stores.wrote(id, device);
  }

  void watch(DeviceKey device, String what) {
    var session = table.find(device);
    if (session != null && forbidden.contains(session)) {
      ledger.violation(
          "%s %s of %s after it stood still and another node had the device"
              .formatted(id, what, device.device().value()));
    }
  }
}
