package io.pushplanet.common.lane;

import com.rabbitmq.client.Channel;
import io.pushplanet.common.message.Priority;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Every queue of the platform. All are durable; on RabbitMQ they are quorum queues. Correctness relies on nothing but
/// durable queues, persistent messages, confirms, manual acknowledgement, prefetch and redelivery.
public final class Topology {
  /// That messages were accepted. Apart from the other events, so that from full queues it is taken beside what came of them.
  public static final String ACCEPTED = "push.accepted";

  public static final String EVENTS = "push.events";

  /// Events that cannot be written yet, because they came before what they need.
  public static final String EARLY = "push.early";

  /// Rows that MySQL could not take: messages that are parked or wait for another try, on their way to it.
  public static final String OWED = "push.owed";

  /// What could not be read or handled, with its reason in the headers below.
  public static final String DEAD = "push.dead";

  public static final String DEAD_REASON_HEADER = "x-pushplanet-reason";
  public static final String DEAD_QUEUE_HEADER = "x-pushplanet-queue";

  private Topology() {}

  /// The lane of a channel: `push.apns.high`.
  public static String lane(io.pushplanet.common.delivery.Channel channel, Priority priority) {
    return "push." + channel.word() + "." + word(priority);
  }

  /// Where orders wait for the fan-out role: `push.fanout.high`.
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
      for (var channel : io.pushplanet.common.delivery.Channel.values()) {
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

  /// Declares every queue; harmless when they exist.
  public static void declare(Channel channel) throws IOException {
    Map<String, Object> arguments = arguments(channel.getConnection().getServerProperties());
    for (String queue : queues()) {
      channel.queueDeclare(queue, true, false, false, arguments);
    }
  }

  /// RabbitMQ's queue arguments; none for the embedded broker (Qpid), which closes the connection on any of them.
  ///
  /// From 4.0 on RabbitMQ drops what a quorum queue has delivered 20 times, silently. `-1` turns that off there, and would
  /// mean 0 on 3.x, where there is no such limit (https://github.com/rabbitmq/rabbitmq-server/pull/11937).
  static Map<String, Object> arguments(Map<String, Object> server) {
    if (!"RabbitMQ".equals(String.valueOf(server.get("product")))) {
      return Map.of();
    }
    String major = String.valueOf(server.get("version")).split("\\.", 2)[0];
    return major.matches("[0-3]")
        ? Map.of("x-queue-type", "quorum")
        : Map.of("x-queue-type", "quorum", "x-delivery-limit", -1);
  }
}
