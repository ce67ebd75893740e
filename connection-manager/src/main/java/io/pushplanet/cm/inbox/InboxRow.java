package io.pushplanet.cm.inbox;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;

/// One message that waits for its device: a row of its own, or its place in a broadcast.
///
/// @param seq the number of the broadcast's list that names the device; 0 for a row of its own
/// @param position how far the device's position moves when this end is told: `seq`, but not past a
///     list that comes later
/// @param fate how the row is treated
public record InboxRow(
    DeviceKey device,
    String slot,
    MessageId message,
    Binary payload,
    long expiresAtMillis,
    long seq,
    long position,
    Fate fate) {

  /// How a row is treated when its device is connected.
  public enum Fate {
    DUE,
    /// The same message precedes it, so no end has to be told.
    REPEAT,
    EXPIRED,
    /// A newer message with the same collapse key waits, too.
    COLLAPSED,
    CANCELLED
  }

  public InboxRow(
      DeviceKey device, String slot, MessageId message, Binary payload, long expiresAtMillis) {
    this(device, slot, message, payload, expiresAtMillis, 0, 0, Fate.DUE);
  }

  boolean isBroadcast() {
    return seq > 0;
  }

  boolean isNewerThan(MessageId other) {
    return message.compareTo(other) > 0;
  }

  InboxRow with(Fate other) {
    return new InboxRow(device, slot, message, payload, expiresAtMillis, seq, position, other);
  }

  InboxRow moving(long to) {
    return new InboxRow(device, slot, message, payload, expiresAtMillis, seq, to, fate);
  }
}
