package io.pushplanet.cm.simulator;

import io.pushplanet.cm.handshake.DeviceHandshake;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.uplink.Uplinks;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Three nodes, some devices, a gateway and the stores, under faults that the seed decides. At the
/// end all faults are mended, and the ledger checks the promises.
final class Cluster {
  private static final int NODES = 3;
  private static final int DEVICES = 3;
  private static final int MESSAGES = 24;
  private static final int AT_A_MOVE = 8;
  private static final int BROADCASTS = 5;
  private static final int DELETIONS = 3;
  private static final int CHAOS_MILLIS = 40_000;
  private static final int PEACE_MILLIS = 90_000;
  // An announcement or a notice may take a second or two.
  private static final int SECONDS_ELSEWHERE = 5;
  private static final AppId APP = new AppId("shop");
  private static final DeviceCredential CREDENTIALS =
      new DeviceCredential(
          MasterKey.parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), MutableClock.started());
  private static final List<DeviceKey> KEYS =
      IntStream.range(0, DEVICES)
          .mapToObj(number -> new DeviceKey(APP, new DeviceId("device-" + number)))
          .toList();
  private static final long FIRST_ENDS =
      DeviceCredential.end(MutableClock.started().instant(), Duration.ofDays(1));
  // Of each device, one password for each registration.
  private static final List<List<String>> PASSWORDS =
      KEYS.stream()
          .map(key ->
              IntStream.rangeClosed(0, DELETIONS)
                  .mapToObj(life -> CREDENTIALS.mint(key.app(), key.device(), FIRST_ENDS + life))
                  .toList())
          .toList();

  final World world;
  final Stores stores;
  final Ledger ledger = new Ledger();
  private final Set<Bug> bugs;
  private final DeviceHandshake handshake =
      new DeviceHandshake(CREDENTIALS, 3, 8, 8_192, Uplinks.UPLINK, 4_096);
  private final SimGateway gateway;
  private final @Nullable SimNode[] nodes = new SimNode[NODES];
  private final List<SimDevice> devices = new ArrayList<>();
  private final int[] lives = new int[DEVICES];
  private final Map<DeviceSession, Integer> secondsElsewhere = new IdentityHashMap<>();
  private int started;
  private boolean healed;

  private Cluster(long seed, Set<Bug> bugs) {
    this.world = new World(seed);
    this.stores = new Stores(world, ledger, bugs);
    this.bugs = bugs;
    this.gateway = new SimGateway(world, this, bugs);
  }

  /// Runs the world of this seed to its end.
  static Ledger run(long seed, Set<Bug> bugs) {
    var cluster = new Cluster(seed, bugs);
    cluster.run();
    return cluster.ledger;
  }

  boolean healed() {
    return healed;
  }

  @Nullable SimNode anyNode() {
    var node = nodes[world.below(NODES)];
    return node != null && node.alive ? node : null;
  }

  @Nullable SimNode node(NodeId id) {
    for (var node : nodes) {
      if (node != null && node.alive && node.id.equals(id)) {
        return node;
      }
    }
    return null;
  }

  private void run() {
    stores.noticesLost = world.chance(0.3) ? 0.5 : 0.02;
    for (int slot = 0; slot < NODES; slot++) {
      start(slot);
    }
    for (int number = 0; number < DEVICES; number++) {
      devices.add(
          new SimDevice(
              world, this, KEYS.get(number), PASSWORDS.get(number).getFirst(), number + 1));
    }
    for (int count = 0; count < MESSAGES; count++) {
      world.after(
          0, CHAOS_MILLIS, () -> gateway.send(KEYS.get(world.below(DEVICES)), nextMessage()));
    }
    var fanout = new SimFanout(world, this, bugs);
    for (int count = 0; count < BROADCASTS; count++) {
      world.after(0, CHAOS_MILLIS, () -> fanout.send(someDevices(), nextMessage()));
    }
    for (int count = world.below(DELETIONS + 1); count > 0; count--) {
      world.after(1_000, CHAOS_MILLIS, () -> deleteAndRegister(world.below(DEVICES)));
    }
    for (int faults = 2 + world.below(6); faults > 0; faults--) {
      world.after(1_000, CHAOS_MILLIS, this::fault);
    }
    world.after(1_000, 1_000, this::watchOwners);
    // As an event, because a node may be standing still in the middle of a task just then.
    world.after(CHAOS_MILLIS, CHAOS_MILLIS, this::heal);
    world.runUntilMillis(CHAOS_MILLIS + PEACE_MILLIS);
    ledger.balance();
    for (var device : KEYS) {
      countOwners(device);
    }
  }

  /// A moving device gets enough messages to show which nodes write to it.
  void sendSome(DeviceKey device) {
    for (int count = 0; count < AT_A_MOVE; count++) {
      world.after(0, 100, () -> gateway.send(device, nextMessage()));
    }
  }

  private MessageId nextMessage() {
    var clock = MutableClock.started();
    clock.advance(Duration.ofNanos(world.nowNanos()));
    return new MessageIds(clock, world.random).next();
  }

  /// As a dispatcher does, within one second. The inbox is kept, so that the ledger can check that
  /// no other message gets lost.
  private void deleteAndRegister(int number) {
    deny(KEYS.get(number), FIRST_ENDS + lives[number]);
    lives[number]++;
    devices.get(number).register(PASSWORDS.get(number).get(lives[number]));
  }

  /// Denies the password now, or once Redis is back.
  private void deny(DeviceKey device, long ends) {
    if (stores.redisAway) {
      world.after(200, 200, () -> deny(device, ends));
    } else {
      stores.deny(device, ends);
    }
  }

  private List<DeviceKey> someDevices() {
    var without = KEYS.get(world.below(DEVICES));
    return world.chance(0.6) ? KEYS : KEYS.stream().filter(key -> !key.equals(without)).toList();
  }

  private void start(int slot) {
    var before = nodes[slot];
    if (before != null && before.alive) {
      return;
    }
    nodes[slot] =
        new SimNode(
            new NodeId("node-" + slot + "-" + started++), world, stores, ledger, handshake, bugs);
  }

  private void fault() {
    int slot = world.below(NODES);
    var node = nodes[slot];
    if (node == null || !node.alive || healed) {
      return;
    }
    switch (world.below(10)) {
      case 0, 1, 2 -> {
        world.tell(node.id.value(), "freezes");
        node.freeze();
        world.after(200, 20_000, node::thaw);
      }
      case 4, 5 -> {
        world.tell(node.id.value(), "dies");
        node.kill();
        world.after(500, 5_000, () -> start(slot));
      }
      case 6 -> {
        world.tell("redis", "goes away");
        stores.troubled();
        stores.redisAway = true;
        world.after(500, 15_000, this::redisBack);
      }
      case 7 -> {
        world.tell(node.id.value(), "is cut from redis");
        stores.troubled();
        stores.outOfReach++;
        node.cutFromRedis = true;
        world.after(
            500,
            25_000,
            () -> {
              stores.troubled();
              stores.outOfReach--;
              node.cutFromRedis = false;
              node.redisIsBack();
            });
      }
      case 3, 8 -> {
        world.tell("redis", "loses everything");
        stores.loseRedis();
      }
      default -> {
        world.tell("mysql", "goes away");
        stores.mysqlAway = true;
        world.after(500, 10_000, () -> stores.mysqlAway = false);
      }
    }
  }

  private void redisBack() {
    if (stores.redisAway) {
      world.tell("redis", "is back");
      stores.troubled();
      stores.redisAway = false;
      for (var node : nodes) {
        if (node != null) {
          node.redisIsBack();
        }
      }
    }
  }

  private void heal() {
    world.tell("all", "is mended");
    healed = true;
    stores.mended = true;
    redisBack();
    stores.mysqlAway = false;
    stores.noticesLost = 0;
    stores.eventsRefused = 0;
    for (int slot = 0; slot < NODES; slot++) {
      var node = Objects.requireNonNull(nodes[slot]);
      if (!node.alive) {
        start(slot);
      } else {
        node.cutFromRedis = false;
        if (node.frozen) {
          node.thaw();
        }
      }
    }
    devices.forEach(SimDevice::calm);
  }

  /// A connected device that gateways do not find gets no messages.
  private void watchOwners() {
    for (var node : nodes) {
      if (node == null || !node.alive || !stores.isCalm()) {
        secondsElsewhere.clear();
        continue;
      }
      for (var session : node.table.all()) {
        var owner = stores.owners.get(session.key());
        if (owner != null && owner.node().equals(node.id)) {
          secondsElsewhere.remove(session);
        } else if (secondsElsewhere.merge(session, 1, Integer::sum) == SECONDS_ELSEWHERE) {
          world.tell(node.id.value(), "is not found to have " + session.key().device().value());
          ledger.violation(
              node.id + " has " + session.key().device().value() + " which belongs to " + owner);
        }
      }
    }
    world.after(1_000, 1_000, this::watchOwners);
  }

  private void countOwners(DeviceKey device) {
    int sessions = 0;
    var owner = stores.owners.get(device);
    for (var node : nodes) {
      var session = node == null || !node.alive ? null : node.table.find(device);
      if (session != null) {
        sessions++;
        if (stores.isDenied(device, session.passwordEnds())) {
          ledger.violation(
              node.id + " keeps " + device.device().value() + " by a password that is denied");
        }
        if (owner == null || !owner.node().equals(node.id)) {
          ledger.violation(
              node.id + " keeps " + device.device().value() + " that belongs to " + owner);
        }
      }
    }
    if (sessions != 1) {
      ledger.violation(device.device().value() + " has " + sessions + " owners");
    }
  }
}
