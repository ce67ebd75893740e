package io.pushplanet.cm.inbox;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;

/// One message that waits for its device: a row of its own, or its place in a broadcast.
///
/// @param seq of the broadcast's list that names the device; 0 for a row of its own
/// @param fate what is left to do with it
public record InboxRow(
    DeviceKey device,
    String slot,
    MessageId message,
    Binary payload,
    long parkedAtMillis,
    long expiresAtMillis,
    long seq,
    Fate fate) {

  /// What becomes of a row when its device is there.
  public enum Fate {
    DUE,
    /// The same message stands before it: nothing more is to be told.
    REPEAT,
    EXPIRED,
    /// A newer message of its collapse key waits too.
    COLLAPSED,
    CANCELLED
  }

  /// A row of its own.
  public InboxRow(
      DeviceKey device, String slot, MessageId message, Binary payload, long expiresAtMillis) {
    this(device, slot, message, payload, 0, expiresAtMillis, 0, Fate.DUE);
  }

  boolean isBroadcast() {
    return seq > 0;
  }

  boolean isNewerThan(MessageId other) {
    return message.compareTo(other) > 0;
  }

  InboxRow with(Fate other) {
    return new InboxRow(
        device, slot, message, payload, parkedAtMillis, expiresAtMillis, seq, other);
  }
}
