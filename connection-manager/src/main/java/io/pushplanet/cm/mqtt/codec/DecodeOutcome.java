package io.pushplanet.cm.mqtt.codec;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import org.jspecify.annotations.Nullable;

/// The result of decoding a connection's next bytes.
public sealed interface DecodeOutcome {

  /// The packet is incomplete; no bytes were consumed.
  record Incomplete() implements DecodeOutcome {
    static final Incomplete INSTANCE = new Incomplete();
  }

  record Decoded(MqttPacket packet) implements DecodeOutcome {}

  /// The peer violated the protocol or a limit, and the connection cannot go on. `version` is known
  /// once a CONNECT has shown it.
  record Refused(ReasonCode reason, String why, @Nullable MqttVersion version)
      implements DecodeOutcome {}
}
