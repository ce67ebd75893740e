package io.pushplanet.gateway.statistics;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import java.util.Comparator;

/// The key of a row of `deliveries`. Bulk inserts are sorted by it, so that two writers lock rows
/// in the same order.
record DeliveryKey(MessageId message, DeviceId device) implements Comparable<DeliveryKey> {
  private static final Comparator<DeliveryKey> ORDER =
      Comparator.comparing(DeliveryKey::message).thenComparing(DeliveryKey::device);

  @Override
  public int compareTo(DeliveryKey other) {
    return ORDER.compare(this, other);
  }
}
