package io.pushplanet.load.fleet;

import io.pushplanet.common.device.DeviceId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// MQTT devices on one thread that know several nodes: one whose connection ends comes back at a node drawn by lot, and a
/// device can be told to connect to several at once while it still has a connection, as a phone does that changes its
/// network. Which connection got what is remembered ([Stay]). Thread-safe.
public final class RoamingFleet implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RoamingFleet.class);
  private static final int BUFFER_BYTES = 256 * 1024;
  private static final Duration TURN = Duration.ofMillis(20);
  private static final Duration COMMAND_WITHIN = Duration.ofMinutes(1);
  private static final long LONGEST_MICROS = 600_000_000L;
  private static final int NOWHERE = -1;

  private final List<InetSocketAddress> nodes;
  private final FleetSettings settings;
  private final Arrivals arrivals;
  private final RandomGenerator random;
  private final Selector selector;
  private final Thread thread;
  private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final Map<String, LongAdder> reasons = new ConcurrentHashMap<>();
  private final Map<DeviceId, Integer> standing = new ConcurrentHashMap<>();
  private final Histogram settled = new ConcurrentHistogram(1, LONGEST_MICROS, 3);
  private volatile boolean closed;

  // Confined to the fleet's thread.
  private final Map<DeviceId, Roamer> roamers = new HashMap<>();
  private final Map<DeviceLink, Visit> visits = new IdentityHashMap<>();
  private final PriorityQueue<Return> returns = new PriorityQueue<>();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final ByteBuffer acks = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final List<String> messageIds = new ArrayList<>();
  private final List<Stay> ended = new ArrayList<>();
  private long turnNanos = System.nanoTime();
  private long nextSweepNanos = System.nanoTime();

  /// A device that is to connect to these nodes at once, whatever it has.
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

  private record Return(long dueNanos, Roamer roamer) implements Comparable<Return> {
    @Override
    public int compareTo(Return other) {
      return Long.compare(dueNanos - other.dueNanos, 0);
    }
  }

  private RoamingFleet(
      List<InetSocketAddress> nodes,
      FleetSettings settings,
      Arrivals arrivals,
      RandomGenerator random,
      Selector selector) {
    this.nodes = List.copyOf(nodes);
    this.settings = settings;
    this.arrivals = arrivals;
    this.random = random;
    this.selector = selector;
    this.thread = Thread.ofPlatform().name("roaming-fleet").daemon(true).unstarted(this::run);
  }

  public static RoamingFleet start(
      List<InetSocketAddress> nodes,
      FleetSettings settings,
      Arrivals arrivals,
      RandomGenerator random) {
    try {
      RoamingFleet fleet = new RoamingFleet(nodes, settings, arrivals, random, Selector.open());
      fleet.thread.start();
      return fleet;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot open a selector for the fleet", e);
    }
  }

  /// Connects devices, each to one node.
  public void add(List<Device> more) {
    command(() ->
        more.forEach(device -> {
          Roamer roamer = new Roamer(device);
          roamers.put(device.id(), roamer);
          standing.put(device.id(), NOWHERE);
          comeBack(roamer);
        }));
  }

  /// Begins races. Returns once every further connection is on its way.
  public void race(Collection<Race> races) {
    command(() ->
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
  /// @return those that have not, in time
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

  /// The devices that have exactly one connection, subscribed, and the node that it is at.
  public Map<DeviceId, Integer> standing() {
    Map<DeviceId, Integer> now = new HashMap<>(standing);
    now.values().removeIf(node -> node == NOWHERE);
    return now;
  }

  /// From a race's begin to its device's having one connection, microseconds.
  public Histogram settled() {
    return settled;
  }

  /// Every connection that got as far as its CONNACK and ended since [#forgetStays], and those that stand.
  public List<Stay> stays() {
    List<Stay> all = new ArrayList<>();
    command(() -> {
      all.addAll(ended);
      for (Visit visit : visits.values()) {
        if (visit.welcomed) {
          all.add(visit.stay());
        }
      }
    });
    return all;
  }

  /// Forgets the connections that have ended.
  public void forgetStays() {
    command(ended::clear);
  }

  /// Why connections ended or did not come about, and how often.
  public Map<String, Long> reasons() {
    Map<String, Long> counts = new HashMap<>();
    reasons.forEach((reason, count) -> counts.put(reason, count.sum()));
    return counts;
  }

  /// Says goodbye for all devices and ends.
  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    try {
      thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// Returns once it was executed.
  private void command(Runnable command) {
    CountDownLatch done = new CountDownLatch(1);
    commands.add(() -> {
      command.run();
      done.countDown();
    });
    selector.wakeup();
    try {
      if (!done.await(COMMAND_WITHIN.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("the fleet does not answer");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try (selector) {
      while (!closed) {
        selector.select(TURN.toMillis());
        // What is ready in one turn came in no order that could be told.
        turnNanos = System.nanoTime();
        for (SelectionKey key : selector.selectedKeys()) {
          handle(key);
        }
        selector.selectedKeys().clear();
        for (Runnable next = commands.poll(); next != null; next = commands.poll()) {
          next.run();
        }
        for (Return next = returns.peek();
            next != null && next.dueNanos() - System.nanoTime() <= 0;
            next = returns.peek()) {
          returns.remove();
          comeBack(next.roamer());
        }
        sweep();
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("event=fleet_died", e);
    } finally {
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
      link.heardNanos = turnNanos;
      if (!visit.welcomed && link.phase != DeviceLink.Phase.WAITING_CONNACK) {
        visit.welcomed = true;
        visit.welcomedNanos = turnNanos;
      }
      for (String id : messageIds) {
        visit.firstNanos = visit.messages == 0 ? turnNanos : visit.firstNanos;
        visit.lastNanos = turnNanos;
        visit.messages++;
        arrivals.arrived(link.device.id(), id, turnNanos);
      }
      if (!wasReady && link.phase == DeviceLink.Phase.READY) {
        link.sinceNanos = turnNanos;
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
    guarded(visit, () -> visit.link.connect(selector, nodes.get(node)));
  }

  private void lost(Visit visit, String reason) {
    reasons.computeIfAbsent(reason, _ -> new LongAdder()).increment();
    visit.link.cut();
    visits.remove(visit.link);
    if (visit.welcomed) {
      ended.add(visit.stay());
    }
    Roamer roamer = visit.roamer;
    roamer.open.remove(visit);
    if (roamer.open.isEmpty()) {
      long longest =
          Math.min(
              settings.longestPause().toNanos(),
              settings.firstPause().toNanos() << Math.min(roamer.failures, 20));
      roamer.failures++;
      returns.add(
          new Return(System.nanoTime() + longest / 2 + random.nextLong(longest / 2 + 1), roamer));
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

  /// Once a second: pings that are due, handshakes that take too long, servers that are silent.
  private void sweep() {
    long now = System.nanoTime();
    if (now - nextSweepNanos < 0) {
      return;
    }
    nextSweepNanos = now + Duration.ofSeconds(1).toNanos();
    long pingAfter = settings.keepAlive().toNanos() / 2;
    for (Visit visit : List.copyOf(visits.values())) {
      DeviceLink link = visit.link;
      switch (link.phase) {
        case AWAY -> {}
        case CONNECTING, WAITING_CONNACK, WAITING_SUBACK -> {
          if (now - visit.beganNanos > settings.handshakeWithin().toNanos()) {
            lost(visit, "no answer within " + settings.handshakeWithin());
          }
        }
        case READY -> {
          if (now - link.heardNanos > 3 * pingAfter) {
            lost(visit, "the server is silent");
          } else if (now - link.sinceNanos > pingAfter) {
            link.sinceNanos = now;
            guarded(visit, link::ping);
          }
        }
      }
    }
  }
}
