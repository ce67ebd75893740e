package io.pushplanet.cm.admission;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.link.Door;
import io.pushplanet.cm.transport.gate.AcceptGate;
import java.net.InetAddress;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Whether this node takes another device. Thread-safe, lock-free.
public final class Admission {
  // Beside the reasons that MQTT has: a node refuses much else as "not authorised".
  private static final String DEVICE_DELETED = "device_deleted";

  private final int mostSessions;
  private final Elsewhere elsewhere;
  private final AcceptGate gate;
  private final Map<ReasonCode, Counter> refusals = new EnumMap<>(ReasonCode.class);
  private final Counter denied;
  private final Counter admitted;
  private volatile boolean draining;

  /// What was decided.
  public sealed interface AdmissionOutcome {
    record Admitted() implements AdmissionOutcome {}

    /// @param elsewhere a Server Reference (MQTT 5): where the client may go instead
    /// @param retryAfter when it makes sense to come back here; not the same for two clients; 0 to go elsewhere
    record Refused(ReasonCode reason, String why, Optional<String> elsewhere, Duration retryAfter)
        implements AdmissionOutcome {}
  }

  /// @param elsewhere where clients are sent while this node is full or leaving
  /// @param gate what knows of wrong credentials by address
  public Admission(int mostSessions, Elsewhere elsewhere, AcceptGate gate, MeterRegistry meters) {
    this.mostSessions = mostSessions;
    this.elsewhere = elsewhere;
    this.gate = gate;
    for (var reason : ReasonCode.values()) {
      refusals.put(
          reason,
          meters.counter("cm.admission.refused", "reason", reason.name().toLowerCase(Locale.ROOT)));
    }
    this.denied = meters.counter("cm.admission.refused", "reason", DEVICE_DELETED);
    this.admitted = meters.counter("cm.admission.connected");
  }

  /// Whether a CONNECT is looked at.
  ///
  /// @param door by which the device came
  /// @param source where the device is; null once it is gone
  public AdmissionOutcome ask(Door door, @Nullable InetAddress source, long nowNanos) {
    if (draining) {
      return refused(ReasonCode.SERVER_SHUTTING_DOWN, "this node is leaving", door);
    }
    // For sockets that came through the gate together, before the address had used its failures up.
    if (source != null && gate.failsTooOften(source, nowNanos)) {
      return new AdmissionOutcome.Refused(
          ReasonCode.CONNECTION_RATE_EXCEEDED,
          "too many wrong credentials from your address",
          Optional.empty(),
          gate.retryAfter());
    }
    return new AdmissionOutcome.Admitted();
  }

  /// Whether there is room for a device whose credential is good.
  ///
  /// @param isHere it is one of the `sessions`
  /// @param sessions that there are, or will be in a moment
  /// @param door as in [#ask]
  public AdmissionOutcome askForRoom(boolean isHere, int sessions, Door door) {
    return isHere || sessions < mostSessions
        ? new AdmissionOutcome.Admitted()
        : refused(ReasonCode.SERVER_BUSY, "this node is full", door);
  }

  private AdmissionOutcome refused(ReasonCode alone, String why, Door door) {
    var reference = elsewhere.reference(door);
    return new AdmissionOutcome.Refused(
        reference.isPresent() ? ReasonCode.USE_ANOTHER_SERVER : alone,
        why,
        reference,
        reference.isPresent() ? Duration.ZERO : gate.retryAfter());
  }

  /// A credential from there was wrong: past `cm.admission.address-failures-per-second` the address is closed at the door.
  public void failed(@Nullable InetAddress source, long nowNanos) {
    if (source != null) {
      gate.failed(source, nowNanos);
    }
  }

  /// When a client that is turned away for lack of room should come back: never the same for two.
  public Duration retryAfter() {
    return gate.retryAfter();
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

  /// By a password that its device was given before it was deleted.
  public void countDenied() {
    denied.increment();
  }

  public void countRefused(ReasonCode reason) {
    var counter = refusals.get(reason);
    if (counter != null) {
      counter.increment();
    }
  }
}
