package io.pushplanet.gateway.intake;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.order.Tickets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// A queue on one connection. It has a consumer with the smallest prefetch, and adds another one
/// each time that its window grows: RabbitMQ applies a changed prefetch only to later consumers,
/// and hands the messages that are on their way to a cancelled consumer out again. All consumers
/// share one channel, which delivers in the queue's order, and each message gets a ticket when it
/// arrives. Thread-safe.
final class ConsumedQueue {
  private static final Logger LOG = LoggerFactory.getLogger(ConsumedQueue.class);

  /// How often the window's size is looked at, and whether resting messages may begin.
  static final Duration LOOK = Duration.ofMillis(100);

  private final Connection connection;
  private final Subscription subscription;
  private final PrefetchWindow window;
  private final Shared shared;
  private final Channel channel;
  private final Tickets order = new Tickets();

  /// Guards the channel, to which only one thread at a time may write.
  private final Lock writing = new ReentrantLock();

  private final Lock changing = new ReentrantLock();

  @GuardedBy("changing")
  private final Deque<Messages> consumers = new ArrayDeque<>();

  @GuardedBy("changing")
  private int prefetch;

  /// How many consumers there are, or are about to be, besides the first one.
  private final AtomicInteger further = new AtomicInteger();

  /// Tags of messages to hand back. They wait until all further consumers have left: until then the
  /// broker would hand them to one of those again. Confined to the channel's own thread.
  private final List<Long> refused = new ArrayList<>();

  /// What all queues of one [QueueConsumer] share.
  ///
  /// @param resting while it says true, no message is begun
  /// @param running false from the moment that the consumer stops: no further message is taken
  /// @param closed at zero from that moment on, which wakes up the threads that pause
  record Shared(
      Handling handling,
      InHand inHand,
      BooleanSupplier resting,
      BooleanSupplier running,
      CountDownLatch closed,
      RandomGenerator random,
      MeterRegistry meters) {}

  /// @param window of the queue; it outlives the connection
  ConsumedQueue(
      Connection connection, Subscription subscription, PrefetchWindow window, Shared shared)
      throws IOException {
    this.connection = connection;
    this.subscription = subscription;
    this.window = window;
    this.shared = shared;
    this.channel = connection.createChannel();
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

  /// Follows the window. Called every [#LOOK].
  void look() {
    changing.lock();
    try {
      if (shared.running().getAsBoolean()) {
        become(window.look(shared.resting().getAsBoolean()));
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("event=prefetch_failed queue={} reason=\"{}\"", subscription.queue(), e.toString());
      connection.abort(1_000);
    } finally {
      changing.unlock();
    }
  }

  /// Takes no further messages.
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
    int before = prefetch;
    if (prefetch < size) {
      Messages more = new Messages(size - prefetch);
      if (!consumers.isEmpty()) {
        further.incrementAndGet();
      }
      consumers.addLast(more);
      prefetch = size;
      more.begin();
    }
    while (prefetch > size && consumers.size() > 1) {
      Messages last = consumers.removeLast();
      prefetch -= last.most;
      last.leave();
    }
    if (prefetch != before && before > 0) {
      // RabbitMQ applies a prefetch to each consumer that begins later, and leaves the present ones
      // as they are. Qpid follows the letter of AMQP 0-9-1 and applies it to the channel.
      int all = prefetch;
      write(() -> channel.basicQos(all));
    }
  }

  private void write(Writing writing) throws IOException {
    this.writing.lock();
    try {
      writing.write();
    } finally {
      this.writing.unlock();
    }
  }

  private interface Writing {
    void write() throws IOException;
  }

  /// One consumer of the queue. The connection's thread only starts virtual threads.
  private final class Messages extends DefaultConsumer {
    private final int most;

    /// @param most its prefetch
    Messages(int most) {
      super(channel);
      this.most = most;
    }

    void begin() throws IOException {
      write(() -> {
        channel.basicQos(most);
        channel.basicConsume(subscription.queue(), false, this);
      });
    }

    /// Takes no further messages. Those in hand are still answered.
    void leave() throws IOException {
      write(() -> channel.basicCancel(getConsumerTag()));
    }

    /// Follows the consumer's last message. When the process stops, the first consumer is cancelled
    /// as well.
    @Override
    public void handleCancelOk(String consumerTag) {
      boolean alone = further.updateAndGet(others -> Math.max(0, others - 1)) == 0;
      if (!refused.isEmpty() && (alone || !shared.running().getAsBoolean())) {
        giveBackRefused();
      }
    }

    @Override
    public void handleDelivery(
        String consumerTag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
      if (!shared.running().getAsBoolean() || !window.take(body.length, further.get() > 0)) {
        refused.add(envelope.getDeliveryTag());
        return;
      }
      shared.inHand().take();
      Ticket ticket = order.take();
      Thread.ofVirtual()
          .name("lane-" + subscription.queue())
          .start(() -> handle(envelope, body, ticket));
    }

    /// The queue was deleted or moved to another broker: connect anew.
    @Override
    public void handleCancel(String consumerTag) {
      connection.abort(1_000);
    }

    /// The broker closed only this channel, as it does when a message stays unanswered for half an
    /// hour. Connect anew, because otherwise no consumer is left on the queue.
    @Override
    public void handleShutdownSignal(String consumerTag, ShutdownSignalException cause) {
      if (shared.running().getAsBoolean() && !cause.isHardError()) {
        connection.abort(1_000);
      }
    }

    private void handle(Envelope envelope, byte[] body, Ticket ticket) {
      String result = "requeued";
      try {
        result = handleInOrder(envelope, body, ticket);
        answer(() -> channel.basicAck(envelope.getDeliveryTag(), false));
      } catch (Throwable e) {
        giveBack(envelope, e);
      } finally {
        shared.inHand().done();
        window.answered(body.length);
        count(result);
      }
    }

    private void giveBackRefused() {
      LOG.info("event=messages_refused queue={} messages={}", subscription.queue(), refused.size());
      for (Long tag : refused) {
        answer(() -> channel.basicNack(tag, false, true));
        count("refused");
      }
      refused.clear();
    }

    private void count(String result) {
      shared
          .meters()
          .counter("pushplanet.intake.messages", "queue", subscription.queue(), "result", result)
          .increment();
    }

    private String handleInOrder(Envelope envelope, byte[] body, Ticket ticket)
        throws InterruptedException {
      try {
        awaitRested();
        return shared.handling().handle(subscription, body, envelope.isRedeliver(), ticket);
      } finally {
        ticket.pass();
      }
    }

    private void awaitRested() throws InterruptedException {
      while (shared.resting().getAsBoolean() && channel.isOpen()) {
        if (shared.closed().await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new IllegalStateException("this process is stopping");
        }
      }
      if (!channel.isOpen()) {
        // The broker has handed the message out again meanwhile.
        throw new IllegalStateException("its channel was closed while it waited");
      }
    }

    /// Called after an Error too: an unanswered message occupies its place of the prefetch as long
    /// as the connection lives.
    private void giveBack(Envelope envelope, Throwable why) {
      window.gaveBack();
      try {
        LOG.atLevel(shared.running().getAsBoolean() ? Level.WARN : Level.INFO)
            .log(
                "event=message_requeued queue={} reason=\"{}\"",
                subscription.queue(),
                why.toString());
        LOG.debug("event=message_requeued queue={}", subscription.queue(), why);
        pause();
      } finally {
        answer(() -> channel.basicNack(envelope.getDeliveryTag(), false, true));
      }
    }

    /// Keeps a message that cannot be handled now from going round in a hot loop.
    private void pause() {
      try {
        var _ = shared.closed().await(500 + shared.random().nextLong(1_000), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /// After a lost connection no answer is needed: the broker hands the message out again.
    private void answer(Writing answer) {
      try {
        write(answer);
        shared.inHand().answered();
      } catch (IOException | RuntimeException e) {
        LOG.debug("event=answer_lost queue={} reason=\"{}\"", subscription.queue(), e.toString());
      }
    }
  }
}
