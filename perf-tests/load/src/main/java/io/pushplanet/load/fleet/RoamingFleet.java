package io.pushplanet.load.fleet;

import io.pushplanet.common.device.DeviceId;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/// MQTT devices on one thread that know several nodes. A device whose connection ends comes back at
/// a random node. A device can be told to connect to several nodes at once while it still has a
/// connection, like a phone that changes its network. The fleet remembers each connection and its
/// messages ([Stay]). Thread-safe.
public final class RoamingFleet implements AutoCloseable {
  private static final int BUFFER_BYTES = 256 * 1024;
  private static final long LONGEST_MICROS = 600_000_000L;
  private static final int NOWHERE = -1;

  private final List<InetSocketAddress> nodes;
  private final FleetSettings settings;
  private final Arrivals arrivals;
  private final RandomGenerator random;
  private final FleetLoop loop = FleetLoop.of("roaming-fleet", new Crew());
  private final Map<DeviceId, Integer> standing = new ConcurrentHashMap<>();
  private final Histogram settled = new ConcurrentHistogram(1, LONGEST_MICROS, 3);

  // Confined to the fleet's thread.
  private final Map<DeviceId, Roamer> roamers = new HashMap<>();
  private final Map<DeviceLink, Visit> visits = new IdentityHashMap<>();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final ByteBuffer acks = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final List<String> messageIds = new ArrayList<>();
  private final List<Stay> ended = new ArrayList<>();

  /// A device that must connect to these nodes at once, in addition to its connection.
  public record Race(DeviceId device, List<Integer> nodes) {
    public Race {
      nodes = List.copyOf(nodes);
    }
  }

  private static final class Roamer {
    final Device device;
    final List<Visit> open = new ArrayList<>();
    int failures;
    boolean racing;
    long racingNanos;

    Roamer(Device device) {
      this.device = device;
    }
  }

  private static final class Visit {
    final Roamer roamer;
    final int node;
    final DeviceLink link;
    final long beganNanos;
    boolean welcomed;
    long welcomedNanos;
    long firstNanos;
    long lastNanos;
    long messages;

    Visit(Roamer roamer, int node, DeviceLink link, long beganNanos) {
      this.roamer = roamer;
      this.node = node;
      this.link = link;
      this.beganNanos = beganNanos;
    }

    Stay stay() {
      return new Stay(
          roamer.device.id(), node, beganNanos, welcomedNanos, firstNanos, lastNanos, messages);
    }
  }

  private RoamingFleet(
      List<InetSocketAddress> nodes,
      FleetSettings settings,
      Arrivals arrivals,
      RandomGenerator random) {
    this.nodes = List.copyOf(nodes);
    this.settings = settings;
    this.arrivals = arrivals;
    this.random = random;
  }

  public static RoamingFleet start(
      List<InetSocketAddress> nodes,
      FleetSettings settings,
      Arrivals arrivals,
      RandomGenerator random) {
    RoamingFleet fleet = new RoamingFleet(nodes, settings, arrivals, random);
    fleet.loop.start();
    return fleet;
  }

  /// Connects devices, each to one node.
  public void add(List<Device> more) {
    loop.ask(() ->
        more.forEach(device -> {
          Roamer roamer = new Roamer(device);
          roamers.put(device.id(), roamer);
          standing.put(device.id(), NOWHERE);
          comeBack(roamer);
        }));
  }

  /// Begins races. Returns once every new connection is on its way.
  public void race(Collection<Race> races) {
    loop.ask(() ->
        races.forEach(race -> {
          Roamer roamer = roamers.get(race.device());
          if (roamer != null) {
            roamer.racing = true;
            roamer.racingNanos = System.nanoTime();
            race.nodes().forEach(node -> connect(roamer, node));
          }
        }));
  }

  /// Waits until each of these devices has exactly one connection, and that is subscribed.
  ///
  /// @return the devices for which that did not happen in time
  public List<DeviceId> awaitOneEach(Collection<DeviceId> devices, Duration atMost) {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (true) {
      List<DeviceId> others =
          devices.stream()
              .filter(device -> standing.getOrDefault(device, NOWHERE) == NOWHERE)
              .toList();
      if (others.isEmpty() || System.nanoTime() - deadline > 0) {
        return others;
      }
      LockSupport.parkNanos(Duration.ofMillis(2).toNanos());
    }
  }

  /// The devices with exactly one connection, subscribed, and its node.
  public Map<DeviceId, Integer> standing() {
    Map<DeviceId, Integer> now = new HashMap<>(standing);
    now.values().removeIf(node -> node == NOWHERE);
    return now;
  }

  /// From the begin of a race until its device has one connection, in microseconds.
  public Histogram settled() {
    return settled;
  }

  /// Every connection with a CONNACK that ended since [#forgetStays], and the open ones.
  public List<Stay> stays() {
    List<Stay> all = new ArrayList<>();
    loop.ask(() -> {
      all.addAll(ended);
      for (Visit visit : visits.values()) {
        if (visit.welcomed) {
          all.add(visit.stay());
        }
      }
    });
    return all;
  }

  /// Forgets the ended connections.
  public void forgetStays() {
    loop.ask(ended::clear);
  }

  /// Why connections ended or failed, and how often.
  public Map<String, Long> reasons() {
    return loop.reasons();
  }

  /// Disconnects all devices and ends.
  @Override
  public void close() {
    loop.close();
  }

  private final class Crew implements FleetLoop.Crew {
    @Override
    public void ready(SelectionKey key) {
      handle(key);
    }

    @Override
    public void sweep(long nowNanos) {
      List.copyOf(visits.values())
          .forEach(visit -> guarded(visit, () -> visit.link.look(nowNanos)));
    }

    @Override
    public void end() {
      List.copyOf(visits.keySet()).forEach(DeviceLink::leave);
    }
  }

  private void handle(SelectionKey key) {
    Visit visit = visits.get((DeviceLink) key.attachment());
    if (visit == null || !key.isValid()) {
      return;
    }
    guarded(
        visit,
        () -> {
          if (key.isConnectable()) {
            visit.link.finishConnect();
          }
          if (key.isWritable()) {
            visit.link.writePending();
          }
          if (key.isReadable()) {
            read(visit);
          }
        });
  }

  private void read(Visit visit) throws IOException {
    messageIds.clear();
    DeviceLink link = visit.link;
    boolean wasReady = link.phase == DeviceLink.Phase.READY;
    try {
      link.read(buffer, acks, messageIds);
    } finally {
      link.heardNanos = loop.turnNanos();
      if (!visit.welcomed && link.phase != DeviceLink.Phase.WAITING_CONNACK) {
        visit.welcomed = true;
        visit.welcomedNanos = loop.turnNanos();
      }
      for (String id : messageIds) {
        visit.firstNanos = visit.messages == 0 ? loop.turnNanos() : visit.firstNanos;
        visit.lastNanos = loop.turnNanos();
        visit.messages++;
        arrivals.arrived(link.device.id(), id, loop.turnNanos());
      }
      if (!wasReady && link.phase == DeviceLink.Phase.READY) {
        link.sinceNanos = loop.turnNanos();
        visit.roamer.failures = 0;
        judge(visit.roamer);
      }
    }
  }

  private interface Step {
    void run() throws IOException;
  }

  private void guarded(Visit visit, Step step) {
    try {
      step.run();
    } catch (IOException | RuntimeException e) {
      lost(visit, String.valueOf(e.getMessage()));
    }
  }

  private void comeBack(Roamer roamer) {
    if (roamer.open.isEmpty()) {
      connect(roamer, random.nextInt(nodes.size()));
    }
  }

  private void connect(Roamer roamer, int node) {
    Visit visit =
        new Visit(roamer, node, new DeviceLink(roamer.device, settings), System.nanoTime());
    visits.put(visit.link, visit);
    roamer.open.add(visit);
    visit.link.sinceNanos = visit.beganNanos;
    judge(roamer);
    guarded(visit, () -> visit.link.connect(loop.selector(), nodes.get(node)));
  }

  private void lost(Visit visit, String reason) {
    loop.count(reason);
    visit.link.cut();
    visits.remove(visit.link);
    if (visit.welcomed) {
      ended.add(visit.stay());
    }
    Roamer roamer = visit.roamer;
    roamer.open.remove(visit);
    if (roamer.open.isEmpty()) {
      loop.after(settings.pauseNanos(roamer.failures, random), () -> comeBack(roamer));
      roamer.failures++;
    }
    judge(roamer);
  }

  private void judge(Roamer roamer) {
    boolean one =
        roamer.open.size() == 1 && roamer.open.getFirst().link.phase == DeviceLink.Phase.READY;
    if (one && roamer.racing) {
      roamer.racing = false;
      settled.recordValue(
          Math.clamp((System.nanoTime() - roamer.racingNanos) / 1_000, 1, LONGEST_MICROS));
    }
    standing.put(roamer.device.id(), one ? roamer.open.getFirst().node : NOWHERE);
  }
}
