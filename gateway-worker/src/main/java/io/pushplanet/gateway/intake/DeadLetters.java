package io.pushplanet.gateway.intake;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.lane.BriefConnection;
import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.wire.DeadItem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/// Keeps unreadable messages, and items that cannot be handled, in `push.dead`. Their headers name
/// the queue they came from and the reason, their timestamp the time. They are rare, so each call
/// opens a connection of its own. Thread-safe.
public final class DeadLetters {
  private static final int LONGEST_REASON = 500;
  private static final long CONFIRM_MILLIS = 10_000;
  private static final Duration LONGEST = Duration.ofSeconds(20);

  private final ConnectionFactory connections;
  private final Clock clock;
  private final MeterRegistry meters;

  public DeadLetters(ConnectionFactory connections, Clock clock, MeterRegistry meters) {
    this.connections = connections;
    this.clock = clock;
    this.meters = meters;
  }

  /// Returns when the broker has confirmed all letters.
  ///
  /// @param letters each becomes one AMQP message
  /// @throws BrokerUnavailable when the broker did not confirm them
  public void bury(String queue, List<DeadItem> letters) {
    try (BriefConnection connection = BriefConnection.open(connections, "dead-letters", LONGEST)) {
      Channel channel = connection.createChannel();
      // If the queue was deleted meanwhile, the broker would confirm a letter and lose it.
      Topology.declare(channel.getConnection());
      channel.confirmSelect();
      for (DeadItem letter : letters) {
        channel.basicPublish(
            "",
            Topology.DEAD,
            MessageProperties.MINIMAL_PERSISTENT_BASIC
                .builder()
                .timestamp(Date.from(clock.instant()))
                .headers(
                    Map.of(
                        Topology.DEAD_QUEUE_HEADER,
                        queue,
                        Topology.DEAD_REASON_HEADER,
                        shortened(letter.reason())))
                .build(),
            letter.batch());
      }
      if (!channel.waitForConfirms(CONFIRM_MILLIS)) {
        throw new BrokerUnavailable("the broker refused a dead letter", null);
      }
      Counter.builder("pushplanet.dead.letters")
          .description("dead letters of this queue")
          .tag("queue", queue)
          .register(meters)
          .increment(letters.size());
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw new BrokerUnavailable("a dead letter was not confirmed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BrokerUnavailable("interrupted while burying a dead letter", e);
    }
  }

  /// Reduces a reason to one line that fits into a header: of Jackson's messages only the first
  /// line matters. It quotes what could not be read, so only people who may see a letter's body may
  /// see it.
  private static String shortened(String reason) {
    String line = reason.lines().findFirst().orElse("");
    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= LONGEST_REASON ? line : Attempt.shortened(line, LONGEST_REASON / 4);
  }
}
