package io.pushplanet.dashboard.overview;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.pushplanet.common.lane.Topology;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// The number of messages in each queue, which it asks the broker for by passive declarations, at
/// most every [#FRESH]. A message carries many pushes. Thread-safe.
@Component
class QueueDepths {
  static final Duration FRESH = Duration.ofSeconds(2);

  /// A queue without its leader gives no answer, and the library would wait ten minutes.
  private static final int PATIENCE_MILLIS = 3_000;

  private final ConnectionFactory broker;
  private final Recent<Answer> answer = new Recent<>(this::ask, FRESH, System::nanoTime);

  @GuardedBy("this")
  private @Nullable Connection connection;

  QueueDepths(ConnectionFactory broker) {
    this.broker = broker.clone();
    this.broker.setChannelRpcTimeout(PATIENCE_MILLIS);
  }

  sealed interface Answer {
    /// The dead letters come first when there are any, because the table is longer than a screen.
    record Known(List<Queue> queues) implements Answer {
      public Known {
        queues = queues.stream().sorted(Comparator.comparing(Queue::needsYou).reversed()).toList();
      }
    }

    /// The broker did not answer.
    record Unknown() implements Answer {}
  }

  /// @param exists false while no process has declared it
  public record Queue(String name, boolean exists, int messages, int consumers) {
    /// Whether messages wait and the queue has no consumer.
    public boolean stuck() {
      return messages > 0 && consumers == 0 && !isDead();
    }

    /// Whether its messages wait for an operator.
    public boolean isDead() {
      return name.equals(Topology.DEAD);
    }

    public boolean needsYou() {
      return isDead() && messages > 0;
    }
  }

  Answer now() {
    return answer.get();
  }

  private synchronized Answer ask() {
    try {
      Connection open = connection;
      if (open == null || !open.isOpen()) {
        open = broker.newConnection("dashboard");
        connection = open;
      }
      List<Queue> queues = new ArrayList<>();
      for (String name : Topology.queues()) {
        queues.add(depth(open, name));
      }
      return new Answer.Known(queues);
    } catch (IOException | TimeoutException | RuntimeException e) {
      // amqp-client throws AlreadyClosedException, which is unchecked.
      close();
      return new Answer.Unknown();
    }
  }

  /// A queue that does not exist closes the channel, so each has its own.
  private static Queue depth(Connection open, String name) throws IOException, TimeoutException {
    Channel channel = open.createChannel();
    if (channel == null) {
      throw new IOException("no channel left");
    }
    try {
      AMQP.Queue.DeclareOk found = channel.queueDeclarePassive(name);
      channel.close();
      return new Queue(name, true, found.getMessageCount(), found.getConsumerCount());
    } catch (IOException e) {
      if (channel.isOpen() || !open.isOpen()) {
        throw e;
      }
      return new Queue(name, false, 0, 0);
    }
  }

  @PreDestroy
  synchronized void close() {
    Connection open = connection;
    connection = null;
    if (open != null) {
      open.abort(1_000);
    }
  }
}
