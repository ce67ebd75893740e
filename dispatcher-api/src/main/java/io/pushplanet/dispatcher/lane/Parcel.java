package io.pushplanet.dispatcher.lane;

import io.pushplanet.common.wire.WireForm;

/// One item for one queue, in wire form.
public record Parcel(String queue, byte[] body) {
  public static Parcel of(String queue, Object item) {
    return new Parcel(queue, WireForm.write(item));
  }
}
