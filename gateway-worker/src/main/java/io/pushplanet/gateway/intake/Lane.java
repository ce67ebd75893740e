package io.pushplanet.gateway.intake;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A queue on one connection: a consumer with the least prefetch, and one more on a channel of its own each time that its window
/// widens. A prefetch that changes holds only for those who consume from then on, and what is on its way to one who does no
/// more is handed out again. Thread-safe.
final class Lane {
  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

  /// So often somebody looks how wide the window is to be, and whether what rests may begin.
  static final Duration LOOK = Duration.ofMillis(100);

  private final Connection connection;
  private final Subscription subscription;
  private final Window window;
  private final Shared shared;
  private final Lock changing = new ReentrantLock();

  @GuardedBy("changing")
  private final Deque<Messages> consumers = new ArrayDeque<>();

  /// Of a window that was wider, with what is still in hand of it.
  @GuardedBy("changing")
  private final Deque<Line> spare = new ArrayDeque<>();

  @GuardedBy("changing")
  private int prefetch;

  /// What all lanes of a consumer have in common.
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

  /// A channel, to which one thread at a time writes.
  private record Line(Channel channel, Lock writing) {
    Line(Channel channel) {
      this(channel, new ReentrantLock());
    }
  }

  /// @param window of the queue, on whatever connection
  Lane(Connection connection, Subscription subscription, Window window, Shared shared) {
    this.connection = connection;
    this.subscription = subscription;
    this.window = window;
    this.shared = shared;
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
    if (prefetch < size) {
      Messages more = new Messages(line(), size - prefetch, !consumers.isEmpty());
      consumers.addLast(more);
      prefetch = size;
      more.begin();
    }
    while (prefetch > size && consumers.size() > 1) {
      Messages last = consumers.removeLast();
      prefetch -= last.most;
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

  /// What one consumer is handed of the queue. The connection's thread only starts virtual threads.
  private final class Messages extends DefaultConsumer {
    private final Line line;
    private final int most;
    private final boolean further;

    /// Of what is given back when no more comes; sooner, it would come here again. Only the channel's own thread has it.
    private final List<Long> refused = new ArrayList<>();

    /// @param most its prefetch
    /// @param further whether it is there because the window is wider than at the beginning
    Messages(Line line, int most, boolean further) {
      super(line.channel);
      this.line = line;
      this.most = most;
      this.further = further;
    }

    void begin() throws IOException {
      line.writing.lock();
      try {
        getChannel().basicQos(most);
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
      if (!shared.running().getAsBoolean() || !window.take(body.length, further)) {
        refused.add(envelope.getDeliveryTag());
        return;
      }
      shared.inHand().take();
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
      if (shared.running().getAsBoolean() && !cause.isHardError()) {
        getChannel().getConnection().abort(1_000);
      }
    }

    private void handle(Envelope envelope, byte[] body) {
      String result = "requeued";
      try {
        awaitTurn();
        result = shared.handling().handle(subscription, body, envelope.isRedeliver());
        answer(() -> getChannel().basicAck(envelope.getDeliveryTag(), false));
      } catch (Throwable e) {
        giveBack(envelope, e);
      } finally {
        shared.inHand().done();
        window.answered(body.length);
        shared
            .meters()
            .counter("pushplanet.intake.messages", "queue", subscription.queue(), "result", result)
            .increment();
      }
    }

    private void awaitTurn() throws InterruptedException {
      while (shared.resting().getAsBoolean() && getChannel().isOpen()) {
        if (shared.closed().await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
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
        var _ = shared.closed().await(500 + shared.random().nextLong(1_000), TimeUnit.MILLISECONDS);
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
        shared.inHand().answered();
      } catch (IOException | RuntimeException e) {
        LOG.debug("event=answer_lost queue={} reason=\"{}\"", subscription.queue(), e.toString());
      } finally {
        line.writing.unlock();
      }
    }
  }
}
