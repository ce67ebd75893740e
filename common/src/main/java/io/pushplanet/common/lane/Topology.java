package io.pushplanet.common.lane;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All queues of the platform. All are durable; on RabbitMQ they are quorum queues. Correctness
/// relies only on durable queues, persistent messages, confirms, manual acknowledgement, prefetch
/// and redelivery.
public final class Topology {
  /// Events of acceptance. They have a queue of their own, so that while both queues are full,
  /// acceptances and other events are consumed side by side.
  public static final String ACCEPTED = "push.accepted";

  public static final String EVENTS = "push.events";

  /// Events that cannot be written yet, because they came before the events that they depend on.
  public static final String EARLY = "push.early";

  /// Rows that MySQL could not take: messages to park, or to keep for another attempt.
  public static final String OWED = "push.owed";

  /// Items that could not be read or handled, with the reason in the headers below.
  public static final String DEAD = "push.dead";

  public static final String DEAD_REASON_HEADER = "x-pushplanet-reason";
  public static final String DEAD_QUEUE_HEADER = "x-pushplanet-queue";

  private static final Logger LOG = LoggerFactory.getLogger(Topology.class);
  private static final String DELIVERY_LIMIT = "x-delivery-limit";

  private Topology() {}

  /// The lane of a channel: `push.apns.high`.
  public static String lane(Channel channel, Priority priority) {
    return "push." + channel.word() + "." + word(priority);
  }

  /// The queue of the fan-out role's orders: `push.fanout.high`.
  public static String fanout(Priority priority) {
    return "push.fanout." + word(priority);
  }

  private static String word(Priority priority) {
    return priority == Priority.HIGH ? "high" : "normal";
  }

  /// All lanes, the high ones first.
  public static List<String> lanes() {
    List<String> lanes = new ArrayList<>();
    for (Priority priority : Priority.values()) {
      for (Channel channel : Channel.values()) {
        lanes.add(lane(channel, priority));
      }
    }
    return List.copyOf(lanes);
  }

  public static List<String> queues() {
    List<String> queues = new ArrayList<>(lanes());
    for (Priority priority : Priority.values()) {
      queues.add(fanout(priority));
    }
    queues.addAll(List.of(ACCEPTED, EVENTS, EARLY, OWED, DEAD));
    return List.copyOf(queues);
  }

  /// Declares every queue; harmless when they exist. Queues that RabbitMQ 3 made are used as they
  /// are, though a later version would give them another delivery limit.
  public static void declare(Connection broker) throws IOException {
    List<String> limited = new ArrayList<>();
    com.rabbitmq.client.Channel channel = channel(broker);
    try {
      Map<String, Object> arguments = arguments(broker.getServerProperties());
      for (String queue : queues()) {
        try {
          channel.queueDeclare(queue, true, false, false, arguments);
        } catch (IOException e) {
          if (!isAboutTheLimit(e)) {
            throw e;
          }
          limited.add(queue);
          channel = channel(broker);
        }
      }
    } finally {
      channel.abort();
    }
    if (!limited.isEmpty()) {
      LOG.warn(
          "event=queues_have_a_delivery_limit queues={} action=\"RabbitMQ drops what they hand out too often:"
              + " set the policy that docs/operations names\"",
          limited);
    }
  }

  private static com.rabbitmq.client.Channel channel(Connection broker) throws IOException {
    com.rabbitmq.client.Channel channel = broker.createChannel();
    if (channel == null) {
      throw new IOException("no channel left");
    }
    return channel;
  }

  private static boolean isAboutTheLimit(IOException refused) {
    return refused.getCause() instanceof ShutdownSignalException signal
        && signal.getReason() instanceof AMQP.Channel.Close close
        && close.getReplyCode() == AMQP.PRECONDITION_FAILED
        && close.getReplyText().contains(DELIVERY_LIMIT);
  }

  /// Whether it is RabbitMQ, and not the embedded broker.
  ///
  /// @param server the properties of which the broker tells each connection
  public static boolean isRabbitMq(Map<String, Object> server) {
    return "RabbitMQ".equals(String.valueOf(server.get("product")));
  }

  /// RabbitMQ's queue arguments; none for the embedded broker (Qpid), which closes the connection
  /// on any of them.
  ///
  /// From 4.0 on, RabbitMQ silently drops a message that a quorum queue has delivered 20 times.
  /// `-1` turns that off there, and would mean 0 on 3.x, where there is no such limit
  /// (https://github.com/rabbitmq/rabbitmq-server/pull/11937).
  static Map<String, Object> arguments(Map<String, Object> server) {
    if (!isRabbitMq(server)) {
      return Map.of();
    }
    String major = String.valueOf(server.get("version")).split("\\.", 2)[0];
    return major.matches("[0-3]")
        ? Map.of("x-queue-type", "quorum")
        : Map.of("x-queue-type", "quorum", DELIVERY_LIMIT, -1);
  }
}
