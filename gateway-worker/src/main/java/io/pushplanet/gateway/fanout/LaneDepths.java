package io.pushplanet.gateway.fanout;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.pushplanet.common.lane.Topology;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Looks how many messages are ready in a lane: those that no worker has in hand yet. It has a
/// connection of its own, opened with the first look. When the broker does not answer, and where it
/// is not RabbitMQ, no lane is full: a broadcast never stops because of a look. (Qpid counts the
/// messages that are in hand, too.)
///
/// Thread-safe; blocks, for [#ANSWERED_WITHIN_MILLIS] per question once it is connected.
final class LaneDepths implements AutoCloseable {
  /// A lane with more AMQP messages is full. With tokens for FCM or browsers they are what two
  /// steps bring, 10,000 recipients. (Neighbours share an AMQP message up to 256 KB, so that over
  /// APNs and MQTT they are more.) Another app's message waits behind them. It does not wait behind
  /// the 32 that a worker has in hand besides: these share the lane's permits with it, and keep the
  /// lane busy while a broadcast's next page is read.
  static final int MAX_READY = 20;

  private static final Logger LOG = LoggerFactory.getLogger(LaneDepths.class);
  private static final int ANSWERED_WITHIN_MILLIS = 2_000;

  private final ConnectionFactory connections;

  @GuardedBy("this")
  private @Nullable Connection connection;

  @GuardedBy("this")
  private @Nullable Channel channel;

  LaneDepths(ConnectionFactory connections) {
    this.connections = connections.clone();
    this.connections.setChannelRpcTimeout(ANSWERED_WITHIN_MILLIS);
  }

  /// Those of the lanes that are full.
  synchronized Set<String> fullOf(Set<String> lanes) {
    Set<String> full = new HashSet<>();
    if (lanes.isEmpty()) {
      return full;
    }
    try {
      Channel asked = channel();
      if (Topology.isRabbitMq(asked.getConnection().getServerProperties())) {
        for (String lane : lanes) {
          if (asked.messageCount(lane) > MAX_READY) {
            full.add(lane);
          }
        }
      }
      return full;
    } catch (IOException | TimeoutException | RuntimeException e) {
      LOG.debug("event=lane_depth_unknown reason=\"{}\"", e.toString());
      close();
      return Set.of();
    }
  }

  @Override
  public synchronized void close() {
    if (connection != null) {
      connection.abort(1_000);
    }
    connection = null;
    channel = null;
  }

  @GuardedBy("this")
  private Channel channel() throws IOException, TimeoutException {
    if (channel != null && channel.isOpen()) {
      return channel;
    }
    close();
    connection = connections.newConnection("lane-depths");
    Channel opened = connection.createChannel();
    if (opened == null) {
      throw new IOException("no channel left");
    }
    channel = opened;
    return opened;
  }
}
