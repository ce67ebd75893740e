package io.pushplanet.common.lane;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.pushplanet.common.lane.LaneBatch.Item;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One connection of a lane, known by its identity, and what was sent on it and is not confirmed. Sequence numbers are its channel's, so
/// they never mix with an older one's.
///
/// Every AMQP message is `mandatory` (https://www.rabbitmq.com/docs/publishers#unroutable): a queue that somebody deletes costs the
/// link, and the next one declares it again. The lane's sender alone sends; the rest is thread-safe.
final class LaneLink {
  static final String BROKE = "the connection to the message broker broke";

  private static final Logger LOG = LoggerFactory.getLogger(LaneLink.class);
  private static final AMQP.BasicProperties PERSISTENT =
      MessageProperties.MINIMAL_PERSISTENT_BASIC.builder().contentType("application/json").build();

  private final String lane;
  private final LaneItems items;
  private final LaneMetrics metrics;
  private final Connection connection;
  private final Channel channel;
  private final @Nullable Socket socket;
  private final NavigableMap<Long, List<Item>> unconfirmed = new ConcurrentSkipListMap<>();

  /// Since when the broker says that it takes nothing; null while it does not.
  private volatile @Nullable Long blockedSinceNanos;

  /// Since when the sender has been writing; null while it is not.
  private volatile @Nullable Long writingSinceNanos;

  private LaneLink(
      String lane,
      LaneItems items,
      LaneMetrics metrics,
      Connection connection,
      Channel channel,
      @Nullable Socket socket) {
    this.lane = lane;
    this.items = items;
    this.metrics = metrics;
    this.connection = connection;
    this.channel = channel;
    this.socket = socket;
  }

  /// @param broken is told, from a thread of the connection, what makes a link useless: it has to [#end] it
  static LaneLink open(
      ConnectionFactory connections,
      String lane,
      LaneItems items,
      LaneMetrics metrics,
      BiConsumer<LaneLink, String> broken)
      throws IOException, TimeoutException {
    AtomicReference<@Nullable Socket> socket = new AtomicReference<>();
    ConnectionFactory watched = connections.clone();
    watched.setSocketConfigurator(connections.getSocketConfigurator().andThen(socket::set));
    Connection connection = watched.newConnection(lane);
    try {
      Channel channel = connection.createChannel();
      Topology.declare(channel);
      channel.confirmSelect();
      LaneLink made = new LaneLink(lane, items, metrics, connection, channel, socket.get());
      channel.addConfirmListener(
          (sequence, multiple) -> made.settle(sequence, multiple, null),
          (sequence, multiple) ->
              made.settle(sequence, multiple, "the broker refused the message"));
      // Told before the confirm, by the same thread: what was returned is not taken for confirmed.
      channel.addReturnListener(
          returned -> broken.accept(made, "the queue " + returned.getRoutingKey() + " is gone"));
      connection.addShutdownListener(_ -> broken.accept(made, BROKE));
      connection.addBlockedListener(made::blocked, made::unblocked);
      LOG.info("event=lane_connected publisher={}", lane);
      return made;
    } catch (Throwable e) {
      connection.abort();
      throw e;
    }
  }

  private void blocked(String reason) {
    blockedSinceNanos = System.nanoTime();
    LOG.warn("event=lane_blocked publisher={} reason=\"{}\"", lane, reason);
  }

  private void unblocked() {
    blockedSinceNanos = null;
    LOG.info("event=lane_unblocked publisher={}", lane);
  }

  @Nullable Long blockedSinceNanos() {
    return blockedSinceNanos;
  }

  boolean isBlocked() {
    return blockedSinceNanos != null;
  }

  boolean isOpen() {
    return channel.isOpen();
  }

  boolean isWritingSince(long nanos) {
    Long since = writingSinceNanos;
    return since != null && since - nanos < 0;
  }

  boolean isUnconfirmedSince(long nanos) {
    return unconfirmed.values().stream()
        .limit(1)
        .flatMap(List::stream)
        .anyMatch(item -> item.isGivenBefore(nanos));
  }

  /// Returns when it is written. Where that fails its items are told: at once if it was not registered yet, else by whoever ends the link.
  void send(LaneBatch batch) throws IOException, InterruptedException {
    boolean admitted = false;
    boolean registered = false;
    try {
      byte[] body = batch.body();
      items.enter();
      admitted = true;
      long sequence = channel.getNextPublishSeqNo();
      unconfirmed.put(sequence, List.copyOf(batch.items()));
      registered = true;
      metrics.sent(batch);
      writingSinceNanos = System.nanoTime();
      channel.basicPublish("", batch.queue(), true, PERSISTENT, body);
      writingSinceNanos = null;
    } catch (Throwable e) {
      if (!registered) {
        if (admitted) {
          items.leave();
        }
        items.fail(batch.items(), BROKE);
      }
      throw e;
    }
  }

  private void settle(long sequence, boolean multiple, @Nullable String failure) {
    tell(
        multiple
            ? unconfirmed.headMap(sequence, true)
            : unconfirmed.subMap(sequence, true, sequence, true),
        failure);
  }

  void failUnconfirmed(String why) {
    tell(unconfirmed, why);
  }

  /// @param failure null when they are confirmed
  private void tell(NavigableMap<Long, List<Item>> batches, @Nullable String failure) {
    for (Long sequence : List.copyOf(batches.keySet())) {
      List<Item> batch = unconfirmed.remove(sequence);
      if (batch == null) {
        continue;
      }
      items.leave();
      if (failure != null) {
        items.fail(batch, failure);
      } else {
        items.confirm(batch);
      }
    }
  }

  /// Everything in it fails. A second call finds nothing.
  void end(String why) {
    failUnconfirmed(why);
    if (writingSinceNanos != null) {
      // To abort, the driver waits for who is writing, and that may be for ever.
      closeSocket();
    }
    Thread.ofVirtual().name("lane-abort-" + lane).start(() -> connection.abort(1_000));
  }

  private void closeSocket() {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      LOG.debug("event=socket_close_failed publisher={}", lane, e);
    }
  }
}
