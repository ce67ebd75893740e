package io.pushplanet.common.lane;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.pushplanet.common.lane.LaneBatch.Item;
import java.io.IOException;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One connection of a lane and the unconfirmed messages sent on it. The sequence numbers are those
/// of its channel, so they never mix with an older link's.
///
/// Every AMQP message is `mandatory` (https://www.rabbitmq.com/docs/publishers#unroutable): when an
/// operator deletes a queue, the link is dropped, and the next link declares the queue again. Only
/// the lane's sender sends; the rest is thread-safe.
final class LaneLink {
  static final String BROKE = "the connection to the message broker broke";

  private static final Logger LOG = LoggerFactory.getLogger(LaneLink.class);
  private static final AMQP.BasicProperties PERSISTENT =
      MessageProperties.MINIMAL_PERSISTENT_BASIC.builder().contentType("application/json").build();

  private final String lane;
  private final LaneItems items;
  private final LaneMetrics metrics;
  private final BrokerConnection connection;
  private final Channel channel;
  private final NavigableMap<Long, List<Item>> unconfirmed = new ConcurrentSkipListMap<>();

  /// When the broker said that it accepts nothing; null while it accepts messages.
  private volatile @Nullable Long blockedSinceNanos;

  /// When the sender's current write began; null between writes.
  private volatile @Nullable Long writingSinceNanos;

  private LaneLink(
      String lane,
      LaneItems items,
      LaneMetrics metrics,
      BrokerConnection connection,
      Channel channel) {
    this.lane = lane;
    this.items = items;
    this.metrics = metrics;
    this.connection = connection;
    this.channel = channel;
  }

  /// @param broken receives, from a thread of the connection, the reason why the link is useless,
  ///     and must [#end] it
  static LaneLink open(
      ConnectionFactory connections,
      String lane,
      LaneItems items,
      LaneMetrics metrics,
      BiConsumer<LaneLink, String> broken)
      throws IOException, TimeoutException {
    BrokerConnection connection = BrokerConnection.open(connections, lane);
    Connection driver = connection.driver();
    try {
      Topology.declare(driver);
      Channel channel = driver.createChannel();
      channel.confirmSelect();
      LaneLink made = new LaneLink(lane, items, metrics, connection, channel);
      channel.addConfirmListener(
          (sequence, multiple) -> made.settle(sequence, multiple, null),
          (sequence, multiple) ->
              made.settle(sequence, multiple, "the broker refused the message"));
      // The same thread reports returns before confirms, so a returned message is never taken for a
      // confirmed one.
      channel.addReturnListener(
          returned -> broken.accept(made, "the queue " + returned.getRoutingKey() + " is gone"));
      driver.addShutdownListener(_ -> broken.accept(made, BROKE));
      driver.addBlockedListener(made::blocked, made::unblocked);
      LOG.info("event=lane_connected publisher={}", lane);
      return made;
    } catch (Throwable e) {
      connection.close();
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

  /// Returns when the batch is written. When the write fails, its items are failed: here if the
  /// batch was not registered yet, else by the thread that ends the link.
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

  /// @param failure null for confirmed batches
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

  /// Fails all its items. A second call has nothing left to do.
  void end(String why) {
    failUnconfirmed(why);
    if (writingSinceNanos != null) {
      connection.cutOff();
    }
    Thread.ofVirtual().name("lane-abort-" + lane).start(connection::close);
  }
}
