package io.pushplanet.common.lane;

import io.pushplanet.common.wire.WireForm;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/// Items for one queue that share an AMQP message. Not thread-safe.
final class LaneBatch {
  private final String queue;
  private final List<Item> items = new ArrayList<>();
  private int bytes;

  /// @param givenNanos when the publisher handed it over, by [System#nanoTime]
  record Item(String queue, byte[] body, LanePublisher.Confirmation confirmation, long givenNanos) {
    boolean isGivenBefore(long nanos) {
      return givenNanos - nanos < 0;
    }
  }

  private LaneBatch(String queue) {
    this.queue = queue;
  }

  /// The fewest batches per queue that hold all items: full batches first; an item that is too long
  /// has a batch of its own.
  static Queue<LaneBatch> of(List<Item> round, int mostItems, int mostBytes) {
    Map<String, LaneBatch> open = new HashMap<>();
    Queue<LaneBatch> batches = new ArrayDeque<>();
    for (Item item : round) {
      LaneBatch batch = open.computeIfAbsent(item.queue(), LaneBatch::new);
      if (!batch.items.isEmpty() && batch.bytes + item.body().length > mostBytes) {
        batches.add(batch);
        batch = new LaneBatch(item.queue());
        open.put(item.queue(), batch);
      }
      batch.items.add(item);
      batch.bytes += item.body().length;
      if (batch.items.size() >= mostItems) {
        batches.add(batch);
        open.remove(item.queue());
      }
    }
    batches.addAll(open.values());
    return batches;
  }

  String queue() {
    return queue;
  }

  List<Item> items() {
    return items;
  }

  /// The AMQP message.
  byte[] body() {
    return WireForm.join(items.stream().map(Item::body).toList());
  }
}
