package io.pushplanet.cm.inbox;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;

/// A list of devices for which a broadcast waits, without the devices.
///
/// @param seq its number in its app; numbers rise in the order of commits
/// @param first the smallest of its devices' ids
/// @param last the greatest of its devices' ids
record BroadcastList(long seq, MessageId message, long expiresAtMillis, String first, String last) {
  boolean mayName(DeviceId device) {
    return first.compareTo(device.value()) <= 0 && last.compareTo(device.value()) >= 0;
  }
}
