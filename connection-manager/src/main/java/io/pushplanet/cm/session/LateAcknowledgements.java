package io.pushplanet.cm.session;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.time.Instant;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Messages that devices of this node acknowledged too late for their origins: a packet that was
/// sent again on reconnect, or one whose PUBACK took too long. The origin then sends the message
/// another way, parks it or sends it again.
///
/// So each late acknowledgement is published as an event, which cancels the ways that have not been
/// taken yet. It is also remembered: a later copy of the message is settled here without being
/// sent. The memory outlives connections but not the node, and holds the last `most` messages;
/// beyond that, or at another node, the device gets a copy with the same message id.
///
/// Thread-safe; the look-up for each message takes no lock.
public final class LateAcknowledgements {
  /// About 2 MB when full.
  public static final int MAX = 10_000;

  private final Map<Late, Instant> all = new ConcurrentHashMap<>();
  private final Queue<Late> order;
  private final Consumer<DeliveryEvent> news;

  private record Late(HeldKey device, MessageId message) {}

  /// @param news hears of each one once, on the device's loop, so it must not block. When the event
  ///     cannot be published, the origin's other way delivers the message
  public LateAcknowledgements(int most, Consumer<DeliveryEvent> news) {
    this.order = new ArrayBlockingQueue<>(most);
    this.news = news;
  }

  /// @return the time of the first acknowledgement
  Instant add(HeldKey device, MessageId message, Instant at) {
    var late = new Late(device, message);
    Instant before = all.putIfAbsent(late, at);
    if (before != null) {
      return before;
    }
    while (!order.offer(late)) {
      Late oldest = order.poll();
      if (oldest != null) {
        all.remove(oldest);
      }
    }
    news.accept(event(device.device(), message, at));
    return at;
  }

  /// When the device acknowledged this message late; null when no late acknowledgement is
  /// remembered.
  @Nullable Instant find(HeldKey device, MessageId message) {
    return all.isEmpty() ? null : all.get(new Late(device, message));
  }

  /// The event of a late acknowledgement. Gateways and nodes may both publish it; it counts once.
  public static DeliveryEvent event(DeviceKey device, MessageId message, Instant at) {
    return new DeliveryEvent.Ended(
        device.app(),
        at,
        message,
        device.device(),
        DeliveryState.DELIVERED,
        Attempt.acknowledgedLate(at));
  }
}
