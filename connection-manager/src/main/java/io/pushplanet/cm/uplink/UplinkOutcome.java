package io.pushplanet.cm.uplink;

import io.pushplanet.cm.mqtt.ReasonCode;

/// How a device's PUBLISH is treated.
public sealed interface UplinkOutcome {

  /// The event is on its way to the broker; acknowledge only when the broker has confirmed it.
  record Taken() implements UplinkOutcome {}

  /// The publish is refused with this reason; the connection goes on if the version has a code for
  /// it.
  record Refused(ReasonCode reason, String why) implements UplinkOutcome {}

  /// The device violated a rule, so the connection ends.
  record Violation(ReasonCode reason, String why) implements UplinkOutcome {}
}
