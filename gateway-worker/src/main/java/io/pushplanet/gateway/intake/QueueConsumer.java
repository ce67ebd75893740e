package io.pushplanet.gateway.intake;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.lane.Backoff;
import io.pushplanet.common.lane.Topology;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/// Consumes queues with manual acknowledgement: one connection, a channel per queue, one virtual
/// thread per message in hand. The [PrefetchWindow] of a queue bounds its threads, so queues never
/// wait for each other; as it grows, the queue gets further consumers on its channel. Reconnects by
/// itself with growing, jittered pauses. Thread-safe.
///
/// A quorum queue may ignore acknowledgements that arrive right before their channel's end, and
/// hand out finished messages again (https://github.com/rabbitmq/rabbitmq-server/issues/10327). So
/// a channel is never closed before its connection, and the connection stays open until
/// [InHand#APPLIED] after the last answer.
public final class QueueConsumer implements SmartLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(QueueConsumer.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(3);

  /// How many looks pass between two readings of the queues' depths.
  private static final int DEPTHS_EVERY = 50;

  private final ConnectionFactory connections;
  private final String name;
  private final List<Subscription> subscriptions;
  private final RandomGenerator random;
  private final Map<String, AtomicInteger> depths = new ConcurrentHashMap<>();
  private final Map<String, PrefetchWindow> windows = new ConcurrentHashMap<>();
  private final InHand inHand = new InHand();
  private final AtomicReference<@Nullable Link> live = new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ConsumedQueue.Shared shared;
  private volatile boolean running;

  private record Link(Connection connection, List<ConsumedQueue> queues) {}

  /// @param name of the connection, as RabbitMQ's management shows it
  /// @param resting while it says true, no message is begun; those in hand wait unacknowledged
  public QueueConsumer(
      ConnectionFactory connections,
      String name,
      List<Subscription> subscriptions,
      BooleanSupplier resting,
      DeadLetters deadLetters,
      RandomGenerator random,
      MeterRegistry meters) {
    this.connections = connections;
    this.name = name;
    this.subscriptions = List.copyOf(subscriptions);
    this.random = random;
    this.shared =
        new ConsumedQueue.Shared(
            new Handling(deadLetters), inHand, resting, () -> running, closed, random, meters);
    Gauge.builder("pushplanet.intake.in.hand", inHand, InHand::messages)
        .tag("consumer", name)
        .register(meters);
    Gauge.builder("pushplanet.intake.connected", live, held -> held.get() == null ? 0 : 1)
        .tag("consumer", name)
        .register(meters);
    for (Subscription subscription : subscriptions) {
      AtomicInteger depth = new AtomicInteger();
      depths.put(subscription.queue(), depth);
      Gauge.builder("pushplanet.queue.depth", depth, AtomicInteger::get)
          .tag("queue", subscription.queue())
          .register(meters);
      PrefetchWindow window = new PrefetchWindow(subscription);
      windows.put(subscription.queue(), window);
      Gauge.builder("pushplanet.intake.prefetch", window, PrefetchWindow::size)
          .description("AMQP messages of the queue that may be in hand at once just now")
          .tag("queue", subscription.queue())
          .register(meters);
      Gauge.builder("pushplanet.intake.bytes", window, PrefetchWindow::bytes)
          .description("bytes of the AMQP messages in hand")
          .tag("queue", subscription.queue())
          .register(meters);
    }
  }

  /// Whether the broker can hand out messages now.
  public boolean connected() {
    return live.get() != null;
  }

  public String name() {
    return name;
  }

  @Override
  public void start() {
    running = true;
    Thread.ofPlatform().name("intake-" + name).daemon(true).start(this::run);
  }

  /// Takes no further messages, waits for those in hand, and closes the connection. The broker
  /// hands unfinished messages out again.
  @Override
  public void stop() {
    takeNoMore();
    leave();
  }

  /// Returns as soon as the consumer takes no further messages, so that all consumers stop before
  /// any is waited for: Spring stops them one after the other.
  @Override
  public void stop(Runnable stopped) {
    takeNoMore();
    Thread.ofPlatform()
        .name("intake-stop-" + name)
        .start(() -> {
          try {
            leave();
          } finally {
            stopped.run();
          }
        });
  }

  private void takeNoMore() {
    running = false;
    closed.countDown();
    subscriptions.forEach(subscription -> subscription.handler().stopping());
  }

  /// Called by the thread that stops the consumer, and by the one that connected meanwhile. The
  /// later call waits until the first has finished.
  private synchronized void leave() {
    Link link = live.getAndSet(null);
    if (link == null) {
      return;
    }
    Connection connection = link.connection();
    link.queues().forEach(ConsumedQueue::leave);
    inHand.awaitAnswers(connection);
    connection.abort(1_000);
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  private void run() {
    Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, random);
    while (running) {
      try {
        Link link = connect();
        backoff.reset();
        stayConnected(link);
      } catch (InterruptedException e) {
        return;
      } catch (Throwable e) {
        // An Error too: if this thread ended, the consumer would never connect again.
        LOG.warn(
            "event=intake_connect_failed consumer={} broker={}:{} reason=\"{}\"",
            name,
            connections.getHost(),
            connections.getPort(),
            e.toString());
      }
      try {
        if (closed.await(backoff.next().toMillis(), TimeUnit.MILLISECONDS)) {
          return;
        }
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private Link connect() throws IOException, TimeoutException {
    Connection connection = connections.newConnection("intake-" + name);
    try {
      Topology.declare(connection);
      List<ConsumedQueue> queues = new ArrayList<>();
      for (Subscription subscription : subscriptions) {
        ConsumedQueue queue =
            new ConsumedQueue(connection, subscription, window(subscription), shared);
        queue.start();
        queues.add(queue);
      }
      LOG.info("event=intake_connected consumer={} queues={}", name, subscriptions.size());
      return new Link(connection, queues);
    } catch (Throwable e) {
      connection.abort(1_000);
      throw e;
    }
  }

  private PrefetchWindow window(Subscription subscription) {
    return Objects.requireNonNull(windows.get(subscription.queue()));
  }

  /// Returns when the connection is lost. Until then it reads how deep the queues are and adjusts
  /// their windows.
  private void stayConnected(Link link) throws InterruptedException {
    Connection connection = link.connection();
    CountDownLatch lost = new CountDownLatch(1);
    connection.addShutdownListener(cause -> lost.countDown());
    live.set(link);
    try {
      long looks = 0;
      while (running && connection.isOpen()) {
        if (looks++ % DEPTHS_EVERY == 0) {
          readDepths(connection);
        }
        if (lost.await(ConsumedQueue.LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
          break;
        }
        link.queues().forEach(ConsumedQueue::look);
      }
    } finally {
      if (running) {
        live.set(null);
        connection.abort(1_000);
        LOG.warn("event=intake_disconnected consumer={}", name);
      } else {
        leave();
      }
    }
  }

  private void readDepths(Connection connection) {
    try (Channel channel = connection.createChannel()) {
      for (Subscription subscription : subscriptions) {
        AtomicInteger depth = depths.get(subscription.queue());
        if (depth != null) {
          depth.set((int) channel.messageCount(subscription.queue()));
        }
      }
    } catch (IOException | TimeoutException | RuntimeException e) {
      LOG.debug("event=queue_depth_unknown consumer={} reason=\"{}\"", name, e.toString());
    }
  }
}
