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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// Publishes items to queues with publisher confirms. Items for one queue that leave in the same
/// round share one AMQP message and one confirm. Rounds keep a [Pace], unless enough items for a
/// full AMQP message wait when one begins: an occasional item waits only for the linger, and under
/// load an item waits for half of the pace on average (docs/adr/0033). An item is done only when
/// the broker has confirmed the message that carried it.
///
/// One connection ([LaneLink]) and one sending thread, which reconnects by itself with growing,
/// jittered pauses; a second thread ends waits that are too long ([LaneWatch]). While the broker is
/// away every item fails at once with [BrokerUnavailable], so that callers can answer 503 instead
/// of waiting. RabbitMQ accepts nothing while its memory or disk runs out
/// (https://www.rabbitmq.com/docs/connection-blocked): then nothing is sent, and items wait as long
/// as [Settings] allow.
///
/// [Settings] bound the waiting items, the unconfirmed batches, and the bytes of both. Thread-safe.
public final class LanePublisher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LanePublisher.class);
  private static final int MAX_BATCHES_IN_A_ROUND = 16;
  static final String AWAY = "the message broker is away";
  static final String BLOCKS = "the message broker takes no messages just now";
  private static final String STOPPING = "this process is stopping";
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

  /// Confined to the sender's thread.
  private final Pace pace;

  /// Confined to the sender's thread.
  private final Backoff backoff;

  /// @param linger the shortest wait of a round's first item for more items to join it
  /// @param pace from one round to the next under load; a round that finds enough items for a full
  ///     AMQP message starts at once
  /// @param mostItems per AMQP message
  /// @param mostBytes per AMQP message; a longer item travels alone
  /// @param mostWaiting items that are not sent yet; past it an item fails at once
  /// @param mostBytesUnderWay of items that are not confirmed yet; past it an item fails at once
  /// @param mostUnconfirmed AMQP messages without a confirm
  /// @param confirmWithin an item fails when it is unconfirmed for this long, and the connection is
  ///     closed
  /// @param blockedWithin an item fails when it has waited this long for a broker that accepts
  ///     nothing
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

    /// The same settings with another linger.
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

    /// The same settings with another wait for a broker that accepts nothing.
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

  /// Receives one call per item, from a thread of the connection, of the lane or of the publisher.
  /// Must not block.
  public interface Confirmation {
    void confirmed();

    void failed(BrokerUnavailable why);
  }

  /// @param name of the connection as RabbitMQ's management shows it
  public LanePublisher(
      ConnectionFactory connections,
      String name,
      Settings settings,
      RandomGenerator random,
      MeterRegistry meters) {
    this.connections = connections;
    this.name = name;
    this.settings = settings;
    this.metrics = new LaneMetrics(name, meters);
    this.items = new LaneItems(name, settings, metrics);
    this.pace = new Pace(settings.pace(), System.nanoTime());
    this.backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, random);
    metrics.connected(link, held -> held.get() == null ? 0 : 1);
    this.sender = Thread.ofPlatform().name("lane-" + name).daemon(true).start(this::run);
    LaneWatch watch = new LaneWatch(name, settings, items, link, this::drop);
    Thread.ofVirtual().name("lane-watch-" + name).start(() -> watch.run(closed));
  }

  /// Whether the lane is connected to the broker.
  public boolean connected() {
    return link.get() != null;
  }

  /// Whether the broker is away, or says that it accepts nothing. A worker should not start work
  /// whose outcome it could not publish.
  public boolean takesNothing() {
    LaneLink live = link.get();
    return live == null || live.isBlocked();
  }

  /// Hands an item over and returns at once; `confirmation` gets exactly one call.
  public void publish(String queue, byte[] item, Confirmation confirmation) {
    if (link.get() == null) {
      items.refuse(confirmation, whyThereIsNoLink());
      return;
    }
    if (items.add(queue, item, confirmation) && link.get() == null) {
      // Another thread may have dropped the link and failed the waiting items before this item
      // came. No other thread would report this item.
      items.failWaiting(whyThereIsNoLink());
    }
  }

  private String whyThereIsNoLink() {
    return closed.getCount() == 0 ? STOPPING : AWAY;
  }

  /// Publishes items and waits until the broker has confirmed them all.
  ///
  /// @throws BrokerUnavailable when an item failed or was not confirmed in time; any of the items
  ///     may still arrive
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
    while (closed.getCount() > 0) {
      LaneLink live = link.get();
      try {
        if (live == null) {
          link.set(LaneLink.open(connections, name, items, metrics, this::drop));
          backoff.reset();
          continue;
        }
        sendOneRound(live);
      } catch (InterruptedException e) {
        break;
      } catch (Throwable e) {
        // Errors as well: without this thread the lane would never connect again.
        if (live == null) {
          LOG.warn(
              "event=lane_connect_failed publisher={} broker={}:{} reason=\"{}\"",
              name,
              connections.getHost(),
              connections.getPort(),
              e.toString());
        }
        drop(live, LaneLink.BROKE + ": " + e.getMessage());
        pause();
      }
    }
    drop(link.get(), STOPPING);
    items.failWaiting(STOPPING);
  }

  /// Waits for an item, lets more items gather until the next round is due, and sends the fewest
  /// messages per queue that hold them all.
  private void sendOneRound(LaneLink live) throws InterruptedException, IOException {
    // Allocated before any item is taken from the queue, so that an Error here loses no item.
    List<Item> round = new ArrayList<>(1 + settings.mostItems());
    Item first = live.isBlocked() ? null : items.next(IDLE);
    if (first != null) {
      round.add(first);
      sendAll(live, gathered(round));
      return;
    }
    if (live.isBlocked()) {
      closed.await(IDLE.toMillis(), TimeUnit.MILLISECONDS);
    }
    if (!live.isOpen()) {
      throw new IOException("channel closed");
    }
  }

  /// @param round the items that were taken out; those that gather are added
  private Queue<LaneBatch> gathered(List<Item> round) {
    try {
      if (items.waiting() < settings.mostItems()) {
        // One sleep instead of a wait per item: waking this thread for each item would cost as much
        // as sending it.
        Pause.nanos(Math.max(settings.linger().toNanos(), pace.waitNanos(System.nanoTime())));
      }
      pace.begun(System.nanoTime());
      items.drainTo(round, MAX_BATCHES_IN_A_ROUND * settings.mostItems());
      return LaneBatch.of(round, settings.mostItems(), settings.mostBytes());
    } catch (Throwable e) {
      items.fail(round, LaneLink.BROKE);
      throw e;
    }
  }

  private void sendAll(LaneLink live, Queue<LaneBatch> batches)
      throws InterruptedException, IOException {
    while (!batches.isEmpty()) {
      if (live.isBlocked()) {
        // These batches were not sent, so none of their items arrives after its failure was
        // reported.
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
      // The shutdown listener may have run before the batch was registered. No other thread would
      // report its items.
      live.failUnconfirmed(LaneLink.BROKE);
    }
  }

  /// Drops a link and fails all its items. The sender's, the watch's and the connection's threads
  /// call it; a second call has nothing left to do.
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

  private void pause() {
    try {
      closed.await(backoff.next().toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
