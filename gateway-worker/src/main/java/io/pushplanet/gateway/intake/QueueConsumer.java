package io.pushplanet.gateway.intake;

import static java.util.Objects.requireNonNullElse;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.Topology;
import io.pushplanet.common.wire.WireForm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.NestedExceptionUtils;

/// Consumes queues with manual acknowledgement: one connection, a channel per queue and further ones as its [Window] widens, one
/// virtual thread per message in hand. The window bounds a queue's threads, so queues never wait for each other. Reconnects by
/// itself with growing, jittered pauses. Thread-safe.
public final class QueueConsumer implements SmartLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(QueueConsumer.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(3);
  private static final Duration LOOK = Duration.ofMillis(100);

  /// So many looks.
  private static final int DEPTHS_EVERY = 50;

  private static final Duration DRAIN = Duration.ofSeconds(12);

  private final ConnectionFactory connections;
  private final String name;
  private final List<Subscription> subscriptions;
  private final BooleanSupplier resting;
  private final DeadLetters deadLetters;
  private final Stumbles stumbles = new Stumbles();
  private final RandomGenerator random;
  private final MeterRegistry meters;
  private final Map<String, AtomicInteger> depths = new ConcurrentHashMap<>();
  private final Map<String, Window> windows = new ConcurrentHashMap<>();
  private final AtomicInteger inHand = new AtomicInteger();
  private final AtomicReference<@Nullable Link> live = new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean running;

  /// One live connection, and the queues on it.
  private record Link(Connection connection, List<Lane> lanes) {}

  /// @param name of the connection as RabbitMQ's management shows it
  /// @param resting while true no message is begun; those that are here wait, unacknowledged
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
    this.resting = resting;
    this.deadLetters = deadLetters;
    this.random = random;
    this.meters = meters;
    Gauge.builder("pushplanet.intake.in.hand", inHand, AtomicInteger::get)
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
      Window window = new Window(subscription);
      windows.put(subscription.queue(), window);
      Gauge.builder("pushplanet.intake.prefetch", window, Window::size)
          .description("AMQP messages of the queue that may be in hand at once just now")
          .tag("queue", subscription.queue())
          .register(meters);
      Gauge.builder("pushplanet.intake.bytes", window, Window::bytes)
          .description("bytes of the AMQP messages in hand")
          .tag("queue", subscription.queue())
          .register(meters);
    }
  }

  /// Whether the broker hands out messages just now.
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

  /// Takes no more messages, waits for those in hand, and leaves. What is not done by then is handed out again; what is not
  /// begun, at once.
  @Override
  public void stop() {
    running = false;
    closed.countDown();
    Link link = live.get();
    if (link == null) {
      return;
    }
    Connection connection = link.connection();
    link.lanes().forEach(Lane::leave);
    long end = System.nanoTime() + DRAIN.toNanos();
    try {
      while (inHand.get() > 0 && System.nanoTime() < end && connection.isOpen()) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connection.abort(1_000);
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  private void run() {
    Duration pause = FIRST_PAUSE;
    while (running) {
      try {
        Link link = connect();
        pause = FIRST_PAUSE;
        stayConnected(link);
      } catch (InterruptedException e) {
        return;
      } catch (Throwable e) {
        // An Error too: if this thread ended, nobody would connect again.
        LOG.warn("event=intake_connect_failed consumer={} reason=\"{}\"", name, e.toString());
      }
      try {
        long millis = pause.toMillis();
        if (closed.await(millis / 2 + random.nextLong(millis), TimeUnit.MILLISECONDS)) {
          return;
        }
      } catch (InterruptedException e) {
        return;
      }
      pause =
          pause.multipliedBy(2).compareTo(LONGEST_PAUSE) > 0
              ? LONGEST_PAUSE
              : pause.multipliedBy(2);
    }
  }

  private Link connect() throws IOException, TimeoutException {
    Connection connection = connections.newConnection("intake-" + name);
    try {
      try (Channel declaring = connection.createChannel()) {
        Topology.declare(declaring);
      }
      List<Lane> lanes = new ArrayList<>();
      for (Subscription subscription : subscriptions) {
        Lane lane = new Lane(connection, subscription, window(subscription));
        lane.start();
        lanes.add(lane);
      }
      LOG.info("event=intake_connected consumer={} queues={}", name, subscriptions.size());
      return new Link(connection, lanes);
    } catch (Throwable e) {
      connection.abort(1_000);
      throw e;
    }
  }

  private Window window(Subscription subscription) {
    return Objects.requireNonNull(windows.get(subscription.queue()));
  }

  /// Returns when the connection is lost; meanwhile looks how deep the queues are, and how much of them is to be in hand.
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
        if (lost.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
          break;
        }
        link.lanes().forEach(Lane::look);
      }
    } finally {
      if (running) {
        live.set(null);
        connection.abort(1_000);
        LOG.warn("event=intake_disconnected consumer={}", name);
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

  /// A queue on one connection: a channel with the least prefetch, and one more each time that its window widens. A prefetch
  /// that changes holds only for those who consume from then on, and what is on its way to one who does no more is handed out again.
  private final class Lane {
    private final Connection connection;
    private final Subscription subscription;
    private final Window window;
    private final Lock changing = new ReentrantLock();

    @GuardedBy("changing")
    private final Deque<Messages> channels = new ArrayDeque<>();

    @GuardedBy("changing")
    private int prefetch;

    Lane(Connection connection, Subscription subscription, Window window) {
      this.connection = connection;
      this.subscription = subscription;
      this.window = window;
    }

    void start() throws IOException {
      window.startOver();
      changing.lock();
      try {
        become(subscription.prefetch());
      } finally {
        changing.unlock();
      }
    }

    void look() {
      changing.lock();
      try {
        if (running) {
          become(window.look(resting.getAsBoolean()));
        }
      } catch (IOException | RuntimeException e) {
        LOG.warn(
            "event=prefetch_failed queue={} reason=\"{}\"", subscription.queue(), e.toString());
        connection.abort(1_000);
      } finally {
        changing.unlock();
      }
    }

    /// Takes no more.
    void leave() {
      changing.lock();
      try {
        for (Messages messages : channels) {
          messages.leave();
        }
      } catch (IOException | RuntimeException e) {
        LOG.warn("event=cancel_failed queue={}", subscription.queue(), e);
      } finally {
        changing.unlock();
      }
    }

    @GuardedBy("changing")
    private void become(int size) throws IOException {
      if (prefetch < size) {
        Messages more =
            new Messages(connection.createChannel(), this, size - prefetch, !channels.isEmpty());
        channels.addLast(more);
        prefetch = size;
        more.begin();
      }
      while (prefetch > size && channels.size() > 1) {
        Messages last = channels.removeLast();
        prefetch -= last.prefetch;
        last.leave();
      }
    }
  }

  /// The messages of one queue on one channel. The connection's thread only starts virtual threads.
  private final class Messages extends DefaultConsumer {
    private final Subscription subscription;
    private final Window window;
    private final int prefetch;
    private final boolean further;
    private final AtomicInteger here = new AtomicInteger();

    /// Of what is given back when no more comes; sooner, it would come here again. Only the channel's own thread has it.
    private final List<Long> refused = new ArrayList<>();

    private volatile boolean leaving;
    // One thread at a time writes to a channel.
    private final Lock answering = new ReentrantLock();

    /// @param further whether it is there because the window is wider than at the beginning
    Messages(Channel channel, Lane lane, int prefetch, boolean further) {
      super(channel);
      this.subscription = lane.subscription;
      this.window = lane.window;
      this.prefetch = prefetch;
      this.further = further;
    }

    void begin() throws IOException {
      getChannel().basicQos(prefetch);
      getChannel().basicConsume(subscription.queue(), false, this);
    }

    /// Takes no more; the channel is closed when what is in hand has its answer.
    void leave() throws IOException {
      answering.lock();
      try {
        getChannel().basicCancel(getConsumerTag());
      } finally {
        answering.unlock();
      }
    }

    /// After the last message.
    @Override
    public void handleCancelOk(String consumerTag) {
      refused.forEach(tag -> answer(() -> getChannel().basicNack(tag, false, true)));
      leaving = true;
      closeIfDone();
    }

    private void closeIfDone() {
      if (leaving && here.get() == 0) {
        answer(() -> getChannel().abort());
      }
    }

    @Override
    public void handleDelivery(
        String consumerTag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
      if (!running || !window.take(body.length, further)) {
        refused.add(envelope.getDeliveryTag());
        return;
      }
      inHand.incrementAndGet();
      here.incrementAndGet();
      Thread.ofVirtual().name("lane-" + subscription.queue()).start(() -> handle(envelope, body));
    }

    /// The queue is gone or moved to another broker: connect anew.
    @Override
    public void handleCancel(String consumerTag) {
      getChannel().getConnection().abort(1_000);
    }

    /// The broker closed this channel alone, as it does when a message stays unanswered for half an hour: connect anew, else
    /// nobody consumes its queue any more.
    @Override
    public void handleShutdownSignal(String consumerTag, ShutdownSignalException cause) {
      if (running && !leaving && !cause.isHardError()) {
        getChannel().getConnection().abort(1_000);
      }
    }

    private void handle(Envelope envelope, byte[] body) {
      String result = "requeued";
      try {
        awaitTurn();
        result = handleOrBury(envelope, body);
        answer(() -> getChannel().basicAck(envelope.getDeliveryTag(), false));
      } catch (Throwable e) {
        giveBack(envelope, e);
      } finally {
        inHand.decrementAndGet();
        window.answered(body.length);
        here.decrementAndGet();
        closeIfDone();
        meters
            .counter("pushplanet.intake.messages", "queue", subscription.queue(), "result", result)
            .increment();
      }
    }

    private void awaitTurn() throws InterruptedException {
      while (resting.getAsBoolean() && getChannel().isOpen()) {
        if (closed.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new IllegalStateException("this process is stopping");
        }
      }
      if (!getChannel().isOpen()) {
        // It has been handed out again meanwhile, to whoever handles it.
        throw new IllegalStateException("its channel was closed while it waited");
      }
    }

    /// After an Error too: a message without an answer holds its place of the prefetch as long as the connection lives.
    private void giveBack(Envelope envelope, Throwable why) {
      window.gaveBack();
      try {
        LOG.warn(
            "event=message_requeued queue={} reason=\"{}\"", subscription.queue(), why.toString());
        LOG.debug("event=message_requeued queue={}", subscription.queue(), why);
        pause();
      } finally {
        answer(() -> getChannel().basicNack(envelope.getDeliveryTag(), false, true));
      }
    }

    private String handleOrBury(Envelope envelope, byte[] body) {
      try {
        subscription.handler().handle(body, envelope.isRedeliver());
        return "done";
      } catch (DeadItems e) {
        return bury(e.items());
      } catch (MalformedWire e) {
        return bury(List.of(new DeadItem(body, requireNonNullElse(e.getMessage(), "malformed"))));
      } catch (RuntimeException | Error e) {
        if (!stumbles.tooMany(body, e)) {
          throw e;
        }
        LOG.error("event=message_poisoned queue={}", subscription.queue(), e);
        return bury(handledSingly(body));
      }
    }

    /// What trips its handler again and again must not take along those that share its AMQP message.
    ///
    /// @return what did it again
    private List<DeadItem> handledSingly(byte[] body) {
      List<DeadItem> dead = new ArrayList<>();
      for (byte[] alone : WireForm.singly(body)) {
        try {
          subscription.handler().handle(alone, true);
        } catch (DeadItems e) {
          dead.addAll(e.items());
        } catch (RuntimeException | Error e) {
          if (!Stumbles.isBug(e)) {
            throw e;
          }
          dead.add(
              new DeadItem(
                  alone, "internal_error: " + NestedExceptionUtils.getMostSpecificCause(e)));
        }
      }
      return dead;
    }

    private String bury(List<DeadItem> dead) {
      if (!dead.isEmpty()) {
        deadLetters.bury(subscription.queue(), dead);
        LOG.error("event=message_dead queue={} items={}", subscription.queue(), dead.size());
      }
      return dead.isEmpty() ? "done" : "dead";
    }

    /// So that a message nobody can handle just now does not go round in a hot loop.
    private void pause() {
      try {
        long ignored = 500 + random.nextLong(1_000);
        if (closed.await(ignored, TimeUnit.MILLISECONDS)) {
          return;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private interface Answer {
      void send() throws IOException;
    }

    /// A lost connection needs no answer: the broker hands the message out again.
    private void answer(Answer answer) {
      answering.lock();
      try {
        answer.send();
      } catch (IOException | RuntimeException e) {
        LOG.debug("event=answer_lost queue={} reason=\"{}\"", subscription.queue(), e.toString());
      } finally {
        answering.unlock();
      }
    }
  }
}
