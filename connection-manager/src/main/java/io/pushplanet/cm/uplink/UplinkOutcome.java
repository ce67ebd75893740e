package io.pushplanet.cm.uplink;

import io.pushplanet.cm.mqtt.ReasonCode;

/// What becomes of a PUBLISH from a device.
public sealed interface UplinkOutcome {

  /// It is on its way to the broker; acknowledge when told so, not before.
  record Taken() implements UplinkOutcome {}

  /// This message is refused with this reason; the connection goes on where the version has a word for it.
  record Refused(ReasonCode reason, String why) implements UplinkOutcome {}

  /// The device broke a rule that ends the connection.
  record Violation(ReasonCode reason, String why) implements UplinkOutcome {}
}
