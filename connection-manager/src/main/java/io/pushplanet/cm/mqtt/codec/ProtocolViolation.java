package io.pushplanet.cm.mqtt.codec;

import io.pushplanet.cm.mqtt.ReasonCode;

/// Ends a parse from any depth; never leaves this package. It has no stack trace, because any
/// client on the internet can cause it.
final class ProtocolViolation extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final ReasonCode reason;

  ProtocolViolation(ReasonCode reason, String why) {
    super(why, null, false, false);
    this.reason = reason;
  }

  ReasonCode reason() {
    return reason;
  }

  String why() {
    return String.valueOf(getMessage());
  }

  static ProtocolViolation malformed(String why) {
    return new ProtocolViolation(ReasonCode.MALFORMED_PACKET, why);
  }

  static ProtocolViolation protocolError(String why) {
    return new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, why);
  }
}
