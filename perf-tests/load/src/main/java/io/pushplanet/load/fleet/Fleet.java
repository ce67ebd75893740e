package io.pushplanet.load.fleet;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.load.mqtt.DeviceTopics;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/// Thousands of MQTT devices on one thread. Each device logs in, subscribes to `push/messages` at
/// QoS 1, acknowledges its messages, pings, and reconnects with growing, jittered pauses when its
/// connection ends, until the fleet is closed.
///
/// The limit is the process's open files: 19,500 devices where it is 20,000. Thread-safe.
public final class Fleet implements AutoCloseable {
  private static final int BUFFER_BYTES = 256 * 1024;

  private final InetSocketAddress server;
  private final FleetSettings settings;
  private final Sources sources;
  private final Arrivals arrivals;
  private final RandomGenerator random;
  private final FleetLoop loop;
  private final LongAdder connects = new LongAdder();
  private final LongAdder cuts = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder repeated = new LongAdder();
  private final LongAdder pongs = new LongAdder();
  private final LongAdder subscriptions = new LongAdder();
  private final AtomicInteger ready = new AtomicInteger();
  private final AtomicInteger devices = new AtomicInteger();

  // Confined to the fleet's thread.
  private final Map<DeviceId, DeviceLink> links = new HashMap<>();
  private final Queue<DeviceLink> toConnect = new ArrayDeque<>();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final ByteBuffer acks = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final List<String> messageIds = new ArrayList<>();
  private int connecting;

  private Fleet(
      InetSocketAddress server,
      FleetSettings settings,
      Sources sources,
      Arrivals arrivals,
      RandomGenerator random) {
    this.server = server;
    this.settings = settings;
    this.sources = sources;
    this.arrivals = arrivals;
    this.random = random;
    this.loop = FleetLoop.of("fleet", new Crew(), settings.looksEvery());
  }

  public static Fleet start(
      InetSocketAddress server, FleetSettings settings, Arrivals arrivals, RandomGenerator random) {
    return start(server, settings, _ -> null, arrivals, random);
  }

  static Fleet start(
      InetSocketAddress server,
      FleetSettings settings,
      Sources sources,
      Arrivals arrivals,
      RandomGenerator random) {
    Fleet fleet = new Fleet(server, settings, sources, arrivals, random);
    fleet.loop.start();
    return fleet;
  }

  /// Connects devices, as many at once as the settings allow. Returns at once.
  public void add(List<Device> more) {
    devices.addAndGet(more.size());
    loop.tell(() ->
        more.forEach(device -> {
          DeviceLink link = new DeviceLink(device, settings, sources.of(links.size()));
          links.put(device.id(), link);
          toConnect.add(link);
        }));
  }

  /// @return whether every device was subscribed in time
  public boolean awaitReady(Duration atMost) {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (ready.get() < devices.get()) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
    }
    return true;
  }

  /// Ends a device's connection without a DISCONNECT; the device comes back by itself.
  public void cut(DeviceId device) {
    loop.tell(() -> {
      DeviceLink link = links.get(device);
      if (link != null && link.phase != DeviceLink.Phase.AWAY) {
        lost(link, "cut by the test");
      }
    });
  }

  /// Ends all connections at once without a DISCONNECT; the devices come back by themselves.
  public void cutAll() {
    loop.ask(() -> {
      for (DeviceLink link : links.values()) {
        if (link.phase != DeviceLink.Phase.AWAY) {
          lost(link, "cut by the test");
        }
      }
      // The first of thousands may be due again already.
      loop.releaseClosed();
    });
  }

  /// The device reports a message as `displayed` or `opened`.
  public void receipt(DeviceId device, MessageId message, String event) {
    byte[] payload =
        ("{\"id\":\"" + message.value() + "\",\"event\":\"" + event + "\"}")
            .getBytes(StandardCharsets.UTF_8);
    loop.tell(() -> {
      DeviceLink link = links.get(device);
      if (link != null && link.phase == DeviceLink.Phase.READY) {
        guarded(link, () -> link.publish(DeviceTopics.RECEIPTS, payload));
      }
    });
  }

  /// Every connected device pings now, independent of its keep-alive.
  public void pingAll() {
    loop.tell(() -> {
      for (DeviceLink link : links.values()) {
        if (link.phase == DeviceLink.Phase.READY) {
          link.sinceNanos = System.nanoTime();
          guarded(link, link::ping);
        }
      }
    });
  }

  /// Every connected device subscribes again now, at this QoS.
  public void subscribeAll(int qos) {
    loop.tell(() -> {
      for (DeviceLink link : links.values()) {
        if (link.phase == DeviceLink.Phase.READY) {
          guarded(link, () -> link.subscribe(qos));
        }
      }
    });
  }

  /// Granted subscriptions so far, the first ones included.
  public long subscriptions() {
    return subscriptions.sum();
  }

  /// Answers to pings so far.
  public long pongs() {
    return pongs.sum();
  }

  public FleetCounts counts() {
    return new FleetCounts(
        devices.get(),
        ready.get(),
        connects.sum(),
        cuts.sum(),
        refused.sum(),
        received.sum(),
        repeated.sum());
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
    public void turned() {
      startConnecting();
    }

    @Override
    public void sweep(long nowNanos) {
      links.values().forEach(link -> guarded(link, () -> link.look(nowNanos)));
    }

    @Override
    public void end() {
      links.values().forEach(DeviceLink::leave);
    }
  }

  private void handle(SelectionKey key) {
    DeviceLink link = (DeviceLink) key.attachment();
    guarded(
        link,
        () -> {
          DeviceLink.Phase before = link.phase;
          try {
            if (key.isConnectable()) {
              link.finishConnect();
            }
            if (key.isWritable()) {
              link.writePending();
            }
            if (key.isReadable()) {
              read(link);
            }
          } finally {
            // Also when the connection broke right after the SUBACK, because the counts follow the
            // phase.
            if (link.phase != before && link.phase == DeviceLink.Phase.READY) {
              becameReady(link);
            }
          }
        });
  }

  private void read(DeviceLink link) throws IOException {
    messageIds.clear();
    try {
      link.read(buffer, acks, messageIds);
    } finally {
      // Also when the acknowledgement could not be written: the devices have seen the messages.
      long now = System.nanoTime();
      link.heardNanos = now;
      pongs.add(link.takePongs());
      subscriptions.add(link.takeSubscriptions());
      for (String id : messageIds) {
        if (id.equals(link.lastMessage)) {
          repeated.increment();
        } else {
          received.increment();
          link.lastMessage = id;
        }
        arrivals.arrived(link.device.id(), id, now);
      }
    }
  }

  private void becameReady(DeviceLink link) {
    connecting--;
    connects.increment();
    ready.incrementAndGet();
    link.sinceNanos = System.nanoTime();
  }

  private interface Step {
    void run() throws IOException;
  }

  private void guarded(DeviceLink link, Step step) {
    try {
      step.run();
    } catch (IOException | RuntimeException e) {
      lost(link, String.valueOf(e.getMessage()));
    }
  }

  private void lost(DeviceLink link, String reason) {
    switch (link.phase) {
      case AWAY -> {}
      case READY -> {
        ready.decrementAndGet();
        cuts.increment();
      }
      case CONNECTING, WAITING_CONNACK, WAITING_SUBACK -> {
        connecting--;
        refused.increment();
      }
    }
    loop.count(reason);
    link.cut();
    loop.after(settings.pauseNanos(link.failures, random), () -> toConnect.add(link));
    link.failures++;
  }

  private void startConnecting() {
    long now = System.nanoTime();
    while (connecting < settings.mostConnecting() && !toConnect.isEmpty()) {
      DeviceLink link = toConnect.remove();
      connecting++;
      link.phase = DeviceLink.Phase.CONNECTING;
      link.sinceNanos = now;
      guarded(link, () -> link.connect(loop.selector(), server));
    }
  }
}
