package io.pushplanet.dispatcher.lane;

import io.pushplanet.common.wire.WireForm;

/// One item for one queue, in wire form.
public record QueueItem(String queue, byte[] body) {
  public static QueueItem of(String queue, Object item) {
    return new QueueItem(queue, WireForm.write(item));
  }
}
