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

/// What devices of this node acknowledged when nobody may have waited for it any more: a packet that was sent again on
/// reconnect, or one whose answer took too long. Whoever handed it over then takes another way, parks it or sends it once more. So
/// each is told as an event, which calls off what has not left by another way, and is remembered: a copy that comes here is
/// settled without being sent. Outlives connections, but not the node, and holds the last `most`: behind that, and at another node,
/// the device gets a copy with the same message id. Thread-safe; what is asked for each message takes no lock.
public final class LateAcknowledgements {
  /// About 2 MB when full.
  public static final int MOST = 10_000;

  private final Map<Late, Instant> all = new ConcurrentHashMap<>();
  private final Queue<Late> order;
  private final Consumer<DeliveryEvent> news;

  private record Late(HeldKey device, MessageId message) {}

  /// @param news told once of each, on the device's loop: must not block. Where it cannot be told, the other way is taken
  public LateAcknowledgements(int most, Consumer<DeliveryEvent> news) {
    this.order = new ArrayBlockingQueue<>(most);
    this.news = news;
  }

  /// @return when it was acknowledged first
  Instant add(HeldKey device, MessageId message, Instant at) {
    var late = new Late(device, message);
    var before = all.putIfAbsent(late, at);
    if (before != null) {
      return before;
    }
    while (!order.offer(late)) {
      var oldest = order.poll();
      if (oldest != null) {
        all.remove(oldest);
      }
    }
    news.accept(event(device.device(), message, at));
    return at;
  }

  /// When the device acknowledged this message late; null where nobody remembers that.
  @Nullable Instant find(HeldKey device, MessageId message) {
    return all.isEmpty() ? null : all.get(new Late(device, message));
  }

  /// What is told of it, by anyone: one that is told twice counts once.
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
