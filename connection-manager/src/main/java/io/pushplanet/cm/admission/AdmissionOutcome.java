package io.pushplanet.cm.admission;

import io.pushplanet.cm.mqtt.ReasonCode;
import java.time.Duration;
import java.util.Optional;

/// Whether this node admits a device.
public sealed interface AdmissionOutcome {
  record Admitted() implements AdmissionOutcome {}

  /// @param serverReference a Server Reference (MQTT 5): the address where the client may go
  ///     instead
  /// @param retryAfter when the client should come back here, different for each client; 0 to go
  ///     elsewhere
  record Refused(
      ReasonCode reason, String why, Optional<String> serverReference, Duration retryAfter)
      implements AdmissionOutcome {}
}
