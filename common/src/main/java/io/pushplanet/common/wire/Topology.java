package io.pushplanet.common.wire;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.LongString;
import io.pushplanet.common.message.Priority;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Every queue of the platform. All are durable; on RabbitMQ they are quorum queues. Correctness relies on nothing but
/// durable queues, persistent messages, confirms, manual acknowledgement, prefetch and redelivery.
public final class Topology {
  public static final String FANOUT = "push.fanout";
  public static final String EVENTS = "push.events";

  /// What could not be read or handled, with its reason in the headers below.
  public static final String DEAD = "push.dead";

  public static final String DEAD_REASON_HEADER = "x-pushplanet-reason";
  public static final String DEAD_QUEUE_HEADER = "x-pushplanet-queue";

  private Topology() {}

  /// The lane of a channel: `push.apns.high`.
  public static String lane(io.pushplanet.common.delivery.Channel channel, Priority priority) {
    return "push." + channel.word() + "." + (priority == Priority.HIGH ? "high" : "normal");
  }

  /// All lanes, the high ones first.
  public static List<String> lanes() {
    List<String> lanes = new ArrayList<>();
    for (Priority priority : Priority.values()) {
      for (var channel : io.pushplanet.common.delivery.Channel.values()) {
        lanes.add(lane(channel, priority));
      }
    }
    return List.copyOf(lanes);
  }

  public static List<String> queues() {
    List<String> queues = new ArrayList<>(lanes());
    queues.addAll(List.of(FANOUT, EVENTS, DEAD));
    return List.copyOf(queues);
  }

  /// Declares every queue; harmless when they exist.
  public static void declare(Channel channel) throws IOException {
    Map<String, Object> arguments =
        isRabbitMq(channel) ? Map.of("x-queue-type", "quorum") : Map.of();
    for (String queue : queues()) {
      channel.queueDeclare(queue, true, false, false, arguments);
    }
  }

  /// The embedded broker (Qpid) closes the connection on any of RabbitMQ's queue arguments.
  private static boolean isRabbitMq(Channel channel) {
    Object product = channel.getConnection().getServerProperties().get("product");
    return product instanceof LongString name && name.toString().equals("RabbitMQ");
  }
}
