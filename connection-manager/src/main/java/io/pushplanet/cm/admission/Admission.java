package io.pushplanet.cm.admission;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.ReasonCode;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// Whether this node takes another device. Thread-safe, lock-free.
public final class Admission {
  private final int mostSessions;
  private final Optional<String> elsewhere;
  private final Map<ReasonCode, Counter> refusals = new EnumMap<>(ReasonCode.class);
  private final Counter admitted;
  private volatile boolean draining;

  /// What was decided.
  public sealed interface AdmissionOutcome {
    record Admitted() implements AdmissionOutcome {}

    /// @param elsewhere a Server Reference (MQTT 5): where the client may go instead
    record Refused(ReasonCode reason, String why, Optional<String> elsewhere)
        implements AdmissionOutcome {}
  }

  /// @param elsewhere empty, or the `host:port` that clients are sent to while this node is full or leaving
  public Admission(int mostSessions, String elsewhere, MeterRegistry meters) {
    this.mostSessions = mostSessions;
    this.elsewhere = Optional.of(elsewhere).filter(text -> !text.isBlank());
    for (var reason : ReasonCode.values()) {
      refusals.put(
          reason,
          meters.counter("cm.admission.refused", "reason", reason.name().toLowerCase(Locale.ROOT)));
    }
    this.admitted = meters.counter("cm.admission.connected");
  }

  public AdmissionOutcome ask(int sessions) {
    if (draining) {
      return elsewhere.isPresent()
          ? new AdmissionOutcome.Refused(
              ReasonCode.USE_ANOTHER_SERVER, "this node is leaving", elsewhere)
          : new AdmissionOutcome.Refused(
              ReasonCode.SERVER_SHUTTING_DOWN, "this node is leaving", elsewhere);
    }
    if (sessions >= mostSessions) {
      return elsewhere.isPresent()
          ? new AdmissionOutcome.Refused(
              ReasonCode.USE_ANOTHER_SERVER, "this node is full", elsewhere)
          : new AdmissionOutcome.Refused(ReasonCode.SERVER_BUSY, "this node is full", elsewhere);
    }
    return new AdmissionOutcome.Admitted();
  }

  /// From now on nobody is admitted.
  public void drain() {
    draining = true;
  }

  public boolean isDraining() {
    return draining;
  }

  public void countConnected() {
    admitted.increment();
  }

  public void countRefused(ReasonCode reason) {
    var counter = refusals.get(reason);
    if (counter != null) {
      counter.increment();
    }
  }
}
