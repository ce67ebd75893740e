package io.pushplanet.dashboard.deadletter;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import io.pushplanet.common.lane.BriefConnection;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.io.IOException;
import java.io.Serial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// Shows, replays and drops the letters in `push.dead`. To look at letters, it takes them without
/// acknowledging them, and the broker puts them back when its channel closes: nothing is lost,
/// whatever happens in between. To replay a letter, it publishes the letter to its queue, and
/// acknowledges it only when the broker has confirmed that: in the worst case the letter is there
/// twice, and every consumer is idempotent. This is rare, so each look has a connection of its own.
/// Thread-safe: calls run one at a time, because letters that one call holds are missing for
/// another.
@Component
class DeadLetters {
  /// How many letters are shown, and searched, at once.
  static final int MAX = 100;

  private static final Logger LOG = LoggerFactory.getLogger(DeadLetters.class);
  private static final long CONFIRM_MILLIS = 10_000;
  private static final Duration LONGEST = Duration.ofSeconds(30);

  /// A queue without its leader gives no answer, and the library would wait ten minutes.
  private static final int PATIENCE_MILLIS = 3_000;

  private final ConnectionFactory broker;
  private final AuditLog audit;

  DeadLetters(ConnectionFactory broker, AuditLog audit) {
    this.broker = broker.clone();
    this.broker.setChannelRpcTimeout(PATIENCE_MILLIS);
    this.audit = audit;
  }

  sealed interface Look {
    /// @param waiting the number of letters in the queue, of which the oldest are shown
    record Known(List<DeadLetter> letters, int waiting) implements Look {
      public Known {
        letters = List.copyOf(letters);
      }
    }

    /// The broker did not answer.
    record Unknown() implements Look {}
  }

  /// The result of replaying or dropping letters.
  sealed interface Outcome {
    record Done(int letters) implements Outcome {}

    /// The broker went away, or did not take a letter because its queue no longer exists. The
    /// letters before it are done.
    record BrokerAway(int letters) implements Outcome {}

    /// The broker takes no messages at the moment. The letters before this one are done.
    record BrokerTakesNothing(int letters) implements Outcome {}
  }

  /// Runs before any letter is taken.
  private interface Preparation {
    Preparation NONE = _ -> {};

    void on(Channel channel) throws IOException, InterruptedException, TimeoutException;
  }

  private interface Deed {
    /// @return whether the letter is to be acknowledged
    boolean with(Channel channel, GetResponse letter, DeadLetter read)
        throws IOException, InterruptedException, TimeoutException;
  }

  synchronized Look look() {
    var letters = new ArrayList<DeadLetter>();
    var waiting = new int[1];
    try {
      eachLetter(
          Preparation.NONE,
          (_, response, letter) -> {
            waiting[0] = Math.max(waiting[0], letters.size() + 1 + response.getMessageCount());
            letters.add(letter);
            return false;
          });
      return new Look.Known(letters, waiting[0]);
    } catch (IOException | TimeoutException | RuntimeException e) {
      // amqp-client throws AlreadyClosedException, which is unchecked.
      LOG.warn("event=dead_letters_unknown reason=\"{}\"", e.toString());
      return new Look.Unknown();
    }
  }

  /// Records a look before the body is shown.
  void read(String operator, DeadLetter letter) {
    audit.record(operator, AuditAction.DEAD_LETTER_READ, subject(letter), "from " + origin(letter));
  }

  /// Replays those of the oldest letters that are `wanted` and have a queue, at most the first
  /// `most`.
  synchronized Outcome replay(String operator, Predicate<DeadLetter> wanted, int most) {
    return finish(
        operator,
        AuditAction.DEAD_LETTER_REPLAYED,
        wanted.and(DeadLetter::isReplayable),
        most,
        DeadLetters::mustTake,
        (channel, response, letter) -> {
          // The broker returns a letter whose queue no longer exists, and confirms it all the same.
          var returned = new AtomicBoolean();
          channel.clearReturnListeners();
          channel.addReturnListener(_ -> returned.set(true));
          channel.basicPublish(
              "",
              letter.queue(),
              true,
              MessageProperties.MINIMAL_PERSISTENT_BASIC,
              response.getBody());
          return channel.waitForConfirms(CONFIRM_MILLIS) && !returned.get();
        });
  }

  /// RabbitMQ reports that it takes nothing only to a connection that publishes. The letters that
  /// such a connection holds come back only when RabbitMQ takes messages again.
  private static void mustTake(Channel channel)
      throws IOException, InterruptedException, TimeoutException {
    String own = channel.queueDeclare().getQueue();
    channel.basicPublish("", own, MessageProperties.MINIMAL_BASIC, new byte[1]);
    if (!channel.waitForConfirms(CONFIRM_MILLIS)) {
      throw new IOException("the broker refused a message to its own sender");
    }
  }

  /// Drops those of the oldest letters that are `wanted`, at most the first `most`.
  synchronized Outcome drop(String operator, Predicate<DeadLetter> wanted, int most) {
    return finish(
        operator,
        AuditAction.DEAD_LETTER_DROPPED,
        wanted,
        most,
        Preparation.NONE,
        (_, _, _) -> true);
  }

  private Outcome finish(
      String operator,
      AuditAction action,
      Predicate<DeadLetter> wanted,
      int most,
      Preparation preparation,
      Deed deed) {
    var done = new ArrayList<DeadLetter>();
    var begun = new ArrayList<DeadLetter>();
    try {
      eachLetter(
          preparation,
          (channel, response, letter) -> {
            if (done.size() == most || !wanted.test(letter)) {
              return false;
            }
            // Recorded first, so that no letter is dropped without an entry.
            begun.add(letter);
            audit.record(operator, action, subject(letter), "from " + origin(letter));
            if (!deed.with(channel, response, letter)) {
              throw new IOException("the broker refused the letter");
            }
            done.add(letter);
            return true;
          });
      return new Outcome.Done(done.size());
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      LOG.warn("event=dead_letters_unfinished done={} reason=\"{}\"", done.size(), e.toString());
      if (begun.size() > done.size()) {
        DeadLetter letter = begun.getLast();
        audit.record(
            operator,
            action,
            subject(letter),
            "failed: the broker did not take it; it stays, from " + origin(letter));
      }
      return e instanceof TakesNothing
          ? new Outcome.BrokerTakesNothing(done.size())
          : new Outcome.BrokerAway(done.size());
    }
  }

  private static String subject(DeadLetter letter) {
    return letter.message().map(MessageId::value).orElse(letter.digest());
  }

  private static String origin(DeadLetter letter) {
    return letter.isReplayable() ? letter.queue() : "an unknown queue";
  }

  private void eachLetter(Preparation preparation, Deed deed) throws IOException, TimeoutException {
    try (BriefConnection connection =
        BriefConnection.open(broker, "dashboard-dead-letters", LONGEST)) {
      try {
        eachLetter(connection, preparation, deed);
      } catch (IOException | ShutdownSignalException e) {
        if (connection.takesNothing()) {
          throw new TakesNothing(e);
        }
        throw e;
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", interrupted);
    }
  }

  private static void eachLetter(BriefConnection connection, Preparation preparation, Deed deed)
      throws IOException, InterruptedException, TimeoutException {
    Channel channel = connection.createChannel();
    if (!exists(connection)) {
      return;
    }
    channel.confirmSelect();
    preparation.on(channel);
    int most = MAX;
    for (int seen = 0; seen < most; seen++) {
      GetResponse letter = channel.basicGet(Topology.DEAD, false);
      if (letter == null) {
        return;
      }
      if (seen == 0) {
        // A letter that is replayed and buried again at once comes behind the present ones.
        most = Math.min(MAX, 1 + letter.getMessageCount());
      }
      if (deed.with(channel, letter, DeadLetter.of(letter))) {
        channel.basicAck(letter.getEnvelope().getDeliveryTag(), false);
      }
    }
  }

  /// The connection was closed because the broker takes no messages.
  private static final class TakesNothing extends IOException {
    @Serial private static final long serialVersionUID = 1;

    TakesNothing(Exception cause) {
      super("the broker takes no messages just now", cause);
    }
  }

  /// Asks on a channel of its own, which the broker closes when the queue does not exist.
  private static boolean exists(BriefConnection connection) throws IOException, TimeoutException {
    Channel channel = connection.createChannel();
    try {
      AMQP.Queue.DeclareOk found = channel.queueDeclarePassive(Topology.DEAD);
      channel.close();
      return found.getQueue().equals(Topology.DEAD);
    } catch (IOException e) {
      if (channel.isOpen() || !connection.isOpen()) {
        throw e;
      }
      return false;
    }
  }
}
