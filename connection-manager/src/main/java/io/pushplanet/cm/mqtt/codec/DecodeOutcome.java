package io.pushplanet.cm.mqtt.codec;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import org.jspecify.annotations.Nullable;

/// What the next bytes of a connection are.
public sealed interface DecodeOutcome {

  /// Not a whole packet yet; nothing was consumed.
  record Incomplete() implements DecodeOutcome {
    static final Incomplete INSTANCE = new Incomplete();
  }

  record Decoded(MqttPacket packet) implements DecodeOutcome {}

  /// The peer broke the protocol or a limit; the connection cannot go on. `version` is known once a CONNECT has shown it.
  record Refused(ReasonCode reason, String why, @Nullable MqttVersion version)
      implements DecodeOutcome {}
}
