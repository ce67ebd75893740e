package io.pushplanet.gateway.intake;

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
import io.pushplanet.common.wire.Topology;
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
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/// Consumes queues with manual acknowledgement: one connection, a channel per queue and further ones as its [Window] widens, one
/// virtual thread per message in hand. The window bounds a queue's threads, so queues never wait for each other. Reconnects by
/// itself with growing, jittered pauses. Thread-safe.
///
/// A quorum queue may ignore acknowledgements that come right before their channel's end, and hand out again what was done
/// (https://github.com/rabbitmq/rabbitmq-server/issues/10327). So a channel is never closed before its connection, which is left
/// [#APPLIED] after the last answer.
public final class QueueConsumer implements SmartLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(QueueConsumer.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(3);
  private static final Duration LOOK = Duration.ofMillis(100);

  /// So many looks.
  private static final int DEPTHS_EVERY = 50;

  private static final Duration DRAIN = Duration.ofSeconds(12);

  /// A channel of RabbitMQ has 32 answers of a quorum queue under way to its log, and keeps further ones until these are
  /// there: some ms, and as many as a slow disk takes for two commits.
  private static final Duration APPLIED = Duration.ofSeconds(1);

  private final ConnectionFactory connections;
  private final String name;
  private final List<Subscription> subscriptions;
  private final BooleanSupplier resting;
  private final Handling handling;
  private final RandomGenerator random;
  private final MeterRegistry meters;
  private final Map<String, AtomicInteger> depths = new ConcurrentHashMap<>();
  private final Map<String, Window> windows = new ConcurrentHashMap<>();
  private final AtomicInteger inHand = new AtomicInteger();
  private final AtomicLong answeredNanos = new AtomicLong(System.nanoTime() - APPLIED.toNanos());
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
    this.handling = new Handling(deadLetters);
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
    leave();
  }

  /// Done by whoever comes first: who stops it, or the thread that connected meanwhile.
  private void leave() {
    Link link = live.getAndSet(null);
    if (link == null) {
      return;
    }
    Connection connection = link.connection();
    link.lanes().forEach(Lane::leave);
    long end = System.nanoTime() + DRAIN.toNanos();
    try {
      while (connection.isOpen() && stillAnswering(end)) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connection.abort(1_000);
  }

  private boolean stillAnswering(long end) {
    long now = System.nanoTime();
    boolean justAnswered = now - answeredNanos.get() < APPLIED.toNanos();
    return now - end < 0
        ? justAnswered || inHand.get() > 0
        : justAnswered && now - end < APPLIED.toNanos();
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

  /// A queue on one connection: a consumer with the least prefetch, and one more on a channel of its own each time that its window
  /// widens. A prefetch that changes holds only for those who consume from then on, and what is on its way to one who does no
  /// more is handed out again.
  private final class Lane {
    private final Connection connection;
    private final Subscription subscription;
    private final Window window;
    private final Lock changing = new ReentrantLock();

    @GuardedBy("changing")
    private final Deque<Messages> consumers = new ArrayDeque<>();

    /// Of a window that was wider, with what is still in hand of it.
    @GuardedBy("changing")
    private final Deque<Line> spare = new ArrayDeque<>();

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
        for (Messages messages : consumers) {
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
        Messages more = new Messages(line(), this, size - prefetch, !consumers.isEmpty());
        consumers.addLast(more);
        prefetch = size;
        more.begin();
      }
      while (prefetch > size && consumers.size() > 1) {
        Messages last = consumers.removeLast();
        prefetch -= last.prefetch;
        last.leave();
        spare.addLast(last.line);
      }
    }

    @GuardedBy("changing")
    private Line line() throws IOException {
      while (!spare.isEmpty()) {
        Line line = spare.removeLast();
        // The broker closes the channel of a message that stays unanswered for half an hour.
        if (line.channel.isOpen()) {
          return line;
        }
      }
      return new Line(connection.createChannel());
    }
  }

  /// A channel, to which one thread at a time writes.
  private record Line(Channel channel, Lock writing) {
    Line(Channel channel) {
      this(channel, new ReentrantLock());
    }
  }

  /// What one consumer is handed of a queue. The connection's thread only starts virtual threads.
  private final class Messages extends DefaultConsumer {
    private final Line line;
    private final Subscription subscription;
    private final Window window;
    private final int prefetch;
    private final boolean further;

    /// Of what is given back when no more comes; sooner, it would come here again. Only the channel's own thread has it.
    private final List<Long> refused = new ArrayList<>();

    /// @param further whether it is there because the window is wider than at the beginning
    Messages(Line line, Lane lane, int prefetch, boolean further) {
      super(line.channel);
      this.line = line;
      this.subscription = lane.subscription;
      this.window = lane.window;
      this.prefetch = prefetch;
      this.further = further;
    }

    void begin() throws IOException {
      line.writing.lock();
      try {
        getChannel().basicQos(prefetch);
        getChannel().basicConsume(subscription.queue(), false, this);
      } finally {
        line.writing.unlock();
      }
    }

    /// Takes no more; what is in hand gets its answers on the same channel.
    void leave() throws IOException {
      line.writing.lock();
      try {
        getChannel().basicCancel(getConsumerTag());
      } finally {
        line.writing.unlock();
      }
    }

    /// After the last message.
    @Override
    public void handleCancelOk(String consumerTag) {
      refused.forEach(tag -> answer(() -> getChannel().basicNack(tag, false, true)));
    }

    @Override
    public void handleDelivery(
        String consumerTag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
      if (!running || !window.take(body.length, further)) {
        refused.add(envelope.getDeliveryTag());
        return;
      }
      inHand.incrementAndGet();
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
      if (running && !cause.isHardError()) {
        getChannel().getConnection().abort(1_000);
      }
    }

    private void handle(Envelope envelope, byte[] body) {
      String result = "requeued";
      try {
        awaitTurn();
        result = handling.handle(subscription, body, envelope.isRedeliver());
        answer(() -> getChannel().basicAck(envelope.getDeliveryTag(), false));
      } catch (Throwable e) {
        giveBack(envelope, e);
      } finally {
        inHand.decrementAndGet();
        window.answered(body.length);
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
      line.writing.lock();
      try {
        answer.send();
        answeredNanos.set(System.nanoTime());
      } catch (IOException | RuntimeException e) {
        LOG.debug("event=answer_lost queue={} reason=\"{}\"", subscription.queue(), e.toString());
      } finally {
        line.writing.unlock();
      }
    }
  }
}
