package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.dashboard.page.Slice;
import org.springframework.stereotype.Service;

/// The messages that a device was sent: the answer to "why did I not get it?"
@Service
public class Deliveries {
  private static final int PAGE = 25;

  private final MessageMapper rows;

  Deliveries(MessageMapper rows) {
    this.rows = rows;
  }

  /// The newest first.
  ///
  /// @param before a message id, or `~`, which sorts after all ids
  public Slice<DeliveryRow> of(AppId app, DeviceId device, String before) {
    return Slice.of(
        rows.deliveriesOfDevice(app, device, before, PAGE + 1),
        PAGE,
        row -> row.messageId().value());
  }
}
