package io.pushplanet.common.lane;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.LaneBatch.Item;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// Publishes items to queues with publisher confirms. Neighbours travel together: items for one queue that go in the same round
/// share one AMQP message and one confirm. Rounds keep a [Pace], unless an AMQP message is full already when one begins: what comes
/// now and then waits for the linger alone, and in a flow an item waits for half of the pace (docs/adr/0033). An item is done only when the
/// broker has confirmed the message it was in.
///
/// One connection ([LaneLink]), one sending thread; reconnects by itself with growing, jittered pauses. While the broker is
/// away every item fails at once with [BrokerUnavailable], so that callers can answer 503 rather than wait. While it is there
/// but takes nothing, as RabbitMQ does when memory or disk runs out (https://www.rabbitmq.com/docs/connection-blocked), nothing
/// is sent and items wait for as long as [Settings] say.
/// Bounded by [Settings]: items waiting, batches unconfirmed, bytes of both. Thread-safe.
public final class LanePublisher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LanePublisher.class);
  private static final int MOST_BATCHES_IN_A_ROUND = 16;
  private static final String AWAY = "the message broker is away";
  private static final String BLOCKS = "the message broker takes no messages just now";
  private static final String STOPPING = "this process is stopping";
  private static final Duration LOOK = Duration.ofMillis(250);
  private static final Duration IDLE = Duration.ofMillis(100);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

  private final ConnectionFactory connections;
  private final String name;
  private final Settings settings;
  private final LaneItems items;
  private final LaneMetrics metrics;
  private final AtomicReference<@Nullable LaneLink> link = new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread sender;

  /// Of the sender alone.
  private final Pace pace;

  /// @param linger how long the first item of a round waits at least, for those that are being handed over with it
  /// @param pace from one round to the next in a flow; one that finds as many items as an AMQP message may have goes at once
  /// @param mostItems per AMQP message
  /// @param mostBytes per AMQP message; a longer item travels alone
  /// @param mostWaiting items not yet sent; past it an item fails at once
  /// @param mostBytesUnderWay of items not yet confirmed; past it an item fails at once
  /// @param mostUnconfirmed AMQP messages without confirm
  /// @param confirmWithin after which an unconfirmed item has failed, and the connection with it
  /// @param blockedWithin after which an item has failed while the broker says that it takes nothing
  public record Settings(
      Duration linger,
      Duration pace,
      int mostItems,
      int mostBytes,
      int mostWaiting,
      long mostBytesUnderWay,
      int mostUnconfirmed,
      Duration confirmWithin,
      Duration blockedWithin) {
    public static final Settings DEFAULT =
        new Settings(
            Duration.ofMillis(1),
            Duration.ofMillis(5),
            64,
            256 * 1024,
            20_000,
            Math.max(16L * 1024 * 1024, Runtime.getRuntime().maxMemory() / 8),
            1_000,
            Duration.ofSeconds(10),
            Duration.ofSeconds(10));

    /// The same, but the first item of a round waits so long.
    public Settings lingering(Duration other) {
      return new Settings(
          other,
          pace,
          mostItems,
          mostBytes,
          mostWaiting,
          mostBytesUnderWay,
          mostUnconfirmed,
          confirmWithin,
          blockedWithin);
    }

    /// The same, but items wait so long for a broker that takes nothing.
    public Settings blockedWithin(Duration other) {
      return new Settings(
          linger,
          pace,
          mostItems,
          mostBytes,
          mostWaiting,
          mostBytesUnderWay,
          mostUnconfirmed,
          confirmWithin,
          other);
    }
  }

  /// Told once per item, from a thread of the connection, of the lane or of who publishes: must not block.
  public interface Confirmation {
    void confirmed();

    void failed(BrokerUnavailable why);
  }

  /// @param name of the connection as RabbitMQ's management shows it
  public LanePublisher(
      ConnectionFactory connections, String name, Settings settings, MeterRegistry meters) {
    this.connections = connections;
    this.name = name;
    this.settings = settings;
    this.metrics = new LaneMetrics(name, meters);
    this.items = new LaneItems(name, settings, metrics);
    this.pace = new Pace(settings.pace(), System.nanoTime());
    metrics.connected(link, held -> held.get() == null ? 0 : 1);
    this.sender = Thread.ofPlatform().name("lane-" + name).daemon(true).start(this::run);
    Thread.ofVirtual().name("lane-watch-" + name).start(this::watch);
  }

  /// Whether the broker can be reached just now.
  public boolean connected() {
    return link.get() != null;
  }

  /// Whether the broker takes nothing just now, because it is away or says so. Who is about to do what could not be told
  /// had better wait.
  public boolean takesNothing() {
    LaneLink live = link.get();
    return live == null || live.isBlocked();
  }

  /// Hands an item over and returns at once; `confirmation` hears of it exactly once.
  public void publish(String queue, byte[] item, Confirmation confirmation) {
    if (link.get() == null) {
      items.refuse(confirmation, whyThereIsNoLink());
      return;
    }
    if (items.add(queue, item, confirmation) && link.get() == null) {
      // Whoever gave up the link may have failed what waits before this item came: nobody else
      // would tell it.
      items.failWaiting(whyThereIsNoLink());
    }
  }

  private String whyThereIsNoLink() {
    return closed.getCount() == 0 ? STOPPING : AWAY;
  }

  /// Hands items over and waits until the broker has confirmed them all.
  ///
  /// @throws BrokerUnavailable when one of them failed or was not confirmed in time; any of them may still arrive
  public void publishAndWait(String queue, List<byte[]> bodies) {
    Confirms confirms = new Confirms(this);
    bodies.forEach(item -> confirms.publish(queue, item));
    confirms.await();
  }

  @Override
  public void close() {
    closed.countDown();
    sender.interrupt();
    try {
      sender.join(Duration.ofSeconds(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    Duration pause = FIRST_PAUSE;
    while (closed.getCount() > 0) {
      LaneLink live = link.get();
      try {
        if (live == null) {
          link.set(LaneLink.open(connections, name, items, metrics, this::drop));
          pause = FIRST_PAUSE;
          continue;
        }
        sendOneRound(live);
      } catch (InterruptedException e) {
        break;
      } catch (Throwable e) {
        // An Error too: if this thread ended, nobody would connect again.
        if (live == null) {
          LOG.warn("event=lane_connect_failed publisher={} reason=\"{}\"", name, e.toString());
        }
        drop(live, LaneLink.BROKE + ": " + e.getMessage());
        pause = sleep(pause);
      }
    }
    drop(link.get(), STOPPING);
    items.failWaiting(STOPPING);
  }

  /// Ends every wait in bounded time, also while the sender is stuck in a write that the broker does not read. A broker that
  /// keeps one item waiting for so long does so with all: the link is given up. One that is blocked is kept: each new one
  /// would take some items before it is, too, and once the broker reads again, what all of them have taken arrives.
  private void watch() {
    try {
      while (!closed.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
        LaneLink live = link.get();
        if (live == null) {
          items.failWaiting(AWAY);
          continue;
        }
        try {
          look(live);
        } catch (Throwable e) {
          // An Error too: if this thread ended, nobody would end a wait.
          LOG.error("event=lane_watch_failed publisher={}", name, e);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look(LaneLink live) {
    Long blockedSince = live.blockedSinceNanos();
    Duration within = blockedSince == null ? settings.confirmWithin() : settings.blockedWithin();
    long latest = System.nanoTime() - within.toNanos();
    if (blockedSince != null && blockedSince - latest > 0) {
      // It may have been slow before it said so: the wait for it begins then.
      return;
    }
    boolean stuck = live.isWritingSince(latest);
    boolean late = items.areWaitingSince(latest) || live.isUnconfirmedSince(latest);
    if (stuck || (late && blockedSince == null)) {
      drop(live, "the broker did not confirm within " + within);
    } else if (late) {
      items.failWaiting(BLOCKS);
      live.failUnconfirmed(BLOCKS);
    }
  }

  /// Waits for an item, lets its neighbours gather until the next round is due, and sends the fewest messages per queue that hold
  /// them all.
  private void sendOneRound(LaneLink live) throws InterruptedException, IOException {
    // Made before anything is taken: an item that is only here must not be lost to an Error.
    List<Item> round = new ArrayList<>(1 + settings.mostItems());
    Item first = live.isBlocked() ? null : items.next(IDLE);
    if (first == null) {
      if (live.isBlocked()) {
        closed.await(IDLE.toMillis(), TimeUnit.MILLISECONDS);
      }
      if (!live.isOpen()) {
        throw new IOException("channel closed");
      }
      return;
    }
    round.add(first);
    Queue<LaneBatch> batches;
    try {
      if (items.waiting() < settings.mostItems()) {
        // Slept through, not waited item by item: waking this thread for each would cost as much
        // as sending it.
        Pause.nanos(Math.max(settings.linger().toNanos(), pace.waitNanos(System.nanoTime())));
      }
      pace.begun(System.nanoTime());
      items.drainTo(round, MOST_BATCHES_IN_A_ROUND * settings.mostItems());
      batches = LaneBatch.of(round, settings.mostItems(), settings.mostBytes());
    } catch (Throwable e) {
      items.fail(round, LaneLink.BROKE);
      throw e;
    }
    while (!batches.isEmpty()) {
      if (live.isBlocked()) {
        // None of them is on its way, so that nothing is said to have failed and arrives later.
        batches.forEach(rest -> items.fail(rest.items(), BLOCKS));
        return;
      }
      LaneBatch batch = batches.remove();
      try {
        send(live, batch);
      } catch (Throwable e) {
        batches.forEach(rest -> items.fail(rest.items(), LaneLink.BROKE));
        throw e;
      }
    }
  }

  private void send(LaneLink live, LaneBatch batch) throws IOException, InterruptedException {
    live.send(batch);
    if (link.get() != live) {
      // The shutdown listener may have run before the batch was registered: nobody else would tell
      // its items.
      live.failUnconfirmed(LaneLink.BROKE);
    }
  }

  /// Gives up a link: everything in it fails. Called from the sender and from the connection's thread; the second call
  /// finds nothing.
  private void drop(@Nullable LaneLink dead, String why) {
    if (dead == null) {
      return;
    }
    if (link.compareAndSet(dead, null)) {
      LOG.atLevel(why.equals(STOPPING) ? Level.INFO : Level.WARN)
          .log("event=lane_disconnected publisher={} reason=\"{}\"", name, why);
      items.failWaiting(why);
    }
    dead.end(why);
  }

  private Duration sleep(Duration pause) {
    try {
      long millis = pause.toMillis();
      closed.await(
          millis / 2 + ThreadLocalRandom.current().nextLong(millis), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return pause.multipliedBy(2).compareTo(LONGEST_PAUSE) > 0
        ? LONGEST_PAUSE
        : pause.multipliedBy(2);
  }
}
