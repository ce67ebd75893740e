package io.pushplanet.cm.handshake;

import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.link.KeepAlive;
import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.common.session.DeviceKey;

/// The outcome of a CONNECT.
public sealed interface HandshakeOutcome {

  /// @param passwordEnds the second of the epoch in which the password ends
  /// @param explains the client wants reason strings (Request Problem Information) and has room for
  ///     them
  record Welcome(
      DeviceKey device,
      long passwordEnds,
      SessionTerms terms,
      KeepAlive keepAlive,
      boolean explains,
      Connect connect)
      implements HandshakeOutcome {
    public Welcome with(KeepAlive granted) {
      return new Welcome(device, passwordEnds, terms, granted, explains, connect);
    }
  }

  record Refused(ReasonCode reason, String why) implements HandshakeOutcome {}
}
