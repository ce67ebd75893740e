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
  private final Elsewhere elsewhere;
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

  /// @param elsewhere where clients are sent while this node is full or leaving
  public Admission(int mostSessions, Elsewhere elsewhere, MeterRegistry meters) {
    this.mostSessions = mostSessions;
    this.elsewhere = elsewhere;
    for (var reason : ReasonCode.values()) {
      refusals.put(
          reason,
          meters.counter("cm.admission.refused", "reason", reason.name().toLowerCase(Locale.ROOT)));
    }
    this.admitted = meters.counter("cm.admission.connected");
  }

  /// @param tls whether the device came over TLS, and so should elsewhere
  public AdmissionOutcome ask(int sessions, boolean tls) {
    if (draining) {
      return refused(ReasonCode.SERVER_SHUTTING_DOWN, "this node is leaving", tls);
    }
    if (sessions >= mostSessions) {
      return refused(ReasonCode.SERVER_BUSY, "this node is full", tls);
    }
    return new AdmissionOutcome.Admitted();
  }

  private AdmissionOutcome refused(ReasonCode alone, String why, boolean tls) {
    var reference = elsewhere.reference(tls);
    return new AdmissionOutcome.Refused(
        reference.isPresent() ? ReasonCode.USE_ANOTHER_SERVER : alone, why, reference);
  }

  /// From now on nobody is admitted.
  public void drain() {
    draining = true;
  }

  /// The drain was called off.
  public void reopen() {
    draining = false;
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
