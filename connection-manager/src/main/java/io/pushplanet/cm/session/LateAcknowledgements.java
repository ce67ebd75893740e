package io.pushplanet.cm.session;

import io.pushplanet.common.message.MessageId;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;

/// What devices of this node acknowledged after the origin had been told that they would not: a packet that was sent again on
/// reconnect, or one whose answer took too long. The origin then parks the message or sends it once more, and the device has
/// it already by the time the copy is here: the session settles it without sending it. Outlives connections, but not
/// the node, and holds the last `most`: behind that, and at another node, the device gets a copy with the same message id.
/// Thread-safe; what is asked for each message takes no lock.
public final class LateAcknowledgements {
  /// About 2 MB when full.
  public static final int MOST = 10_000;

  private final Set<Late> all = ConcurrentHashMap.newKeySet();
  private final Queue<Late> order;

  private record Late(HeldKey device, MessageId message) {}

  public LateAcknowledgements(int most) {
    this.order = new ArrayBlockingQueue<>(most);
  }

  void add(HeldKey device, MessageId message) {
    var late = new Late(device, message);
    if (!all.add(late)) {
      return;
    }
    while (!order.offer(late)) {
      var oldest = order.poll();
      if (oldest != null) {
        all.remove(oldest);
      }
    }
  }

  boolean has(HeldKey device, MessageId message) {
    return !all.isEmpty() && all.contains(new Late(device, message));
  }
}
