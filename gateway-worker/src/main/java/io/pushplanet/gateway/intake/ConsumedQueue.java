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

/// A queue on one connection: a consumer with the least prefetch, and one more each time that its window widens. A prefetch that
/// changes holds only for those who consume from then on, and what is on its way to one who does no more is handed out again.
/// All of them share one channel, which hands out in the queue's order, and each message gets a ticket as it comes. Thread-safe.
final class ConsumedQueue {
  private static final Logger LOG = LoggerFactory.getLogger(ConsumedQueue.class);

  /// So often somebody looks how wide the window is to be, and whether what rests may begin.
  static final Duration LOOK = Duration.ofMillis(100);

  private final Connection connection;
  private final Subscription subscription;
  private final PrefetchWindow window;
  private final Shared shared;
  private final Channel channel;
  private final Tickets order = new Tickets();

  /// Of the channel, to which one thread at a time writes.
  private final Lock writing = new ReentrantLock();

  private final Lock changing = new ReentrantLock();

  @GuardedBy("changing")
  private final Deque<Messages> consumers = new ArrayDeque<>();

  @GuardedBy("changing")
  private int prefetch;

  /// Consumers that are there, or about to be, because the window is wider than at the beginning.
  private final AtomicInteger further = new AtomicInteger();

  /// What is given back when nobody is there who could be handed it again: once all further consumers have left. Only the
  /// channel's own thread has it.
  private final List<Long> refused = new ArrayList<>();

  /// What all queues of a consumer have in common.
  ///
  /// @param resting while true no message is begun
  /// @param running false from the moment that the consumer stops: nothing more is taken
  /// @param closed at zero from then on: what pauses wakes up
  record Shared(
      Handling handling,
      InHand inHand,
      BooleanSupplier resting,
      BooleanSupplier running,
      CountDownLatch closed,
      RandomGenerator random,
      MeterRegistry meters) {}

  /// @param window of the queue, on whatever connection
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

  /// Follows the window; to be called every [#LOOK].
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
      // RabbitMQ lets consumers be who are there: to it a prefetch is for each that begins later.
      // To Qpid, which goes by the letter of AMQP 0-9-1, it is the channel's.
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

  /// What one consumer is handed of the queue. The connection's thread only starts virtual threads.
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

    /// Takes no more; what is in hand gets its answers all the same.
    void leave() throws IOException {
      write(() -> channel.basicCancel(getConsumerTag()));
    }

    /// After its last message, also at the end, where the first consumer leaves as well.
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

    /// The queue is gone or moved to another broker: connect anew.
    @Override
    public void handleCancel(String consumerTag) {
      connection.abort(1_000);
    }

    /// The broker closed this channel alone, as it does when a message stays unanswered for half an hour: connect anew, else
    /// nobody consumes its queue any more.
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
        answer(() -> channel.basicNack(envelope.getDeliveryTag(), false, true));
      }
    }

    /// So that a message nobody can handle just now does not go round in a hot loop.
    private void pause() {
      try {
        var _ = shared.closed().await(500 + shared.random().nextLong(1_000), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /// A lost connection needs no answer: the broker hands the message out again.
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
