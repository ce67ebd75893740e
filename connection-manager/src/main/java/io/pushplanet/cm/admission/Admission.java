package io.pushplanet.cm.admission;

import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.link.ListenerKind;
import io.pushplanet.cm.transport.gate.AcceptGate;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Decides whether this node admits another device. Thread-safe, lock-free.
public final class Admission {
  private final int maxSessions;
  private final ServerReferences serverReferences;
  private final AcceptGate gate;
  private volatile boolean draining;

  /// @param serverReferences where clients are sent while this node is full or leaving
  /// @param gate counts wrong credentials by address
  public Admission(int maxSessions, ServerReferences serverReferences, AcceptGate gate) {
    this.maxSessions = maxSessions;
    this.serverReferences = serverReferences;
    this.gate = gate;
  }

  /// Whether a CONNECT is examined.
  ///
  /// @param kind of the listener that the device came to
  /// @param source where the device is; null once it is gone
  public AdmissionOutcome ask(ListenerKind kind, @Nullable InetAddress source, long nowNanos) {
    if (draining) {
      return refused(ReasonCode.SERVER_SHUTTING_DOWN, "this node is leaving", kind);
    }
    // For sockets that passed the gate together, before the address had used up its failures.
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
  /// @param isHere whether the device is one of the `sessions`
  /// @param sessions on this node, with those that are about to be here
  /// @param kind as in [#ask]
  public AdmissionOutcome askForRoom(boolean isHere, int sessions, ListenerKind kind) {
    return isHere || hasRoom(sessions)
        ? new AdmissionOutcome.Admitted()
        : refused(ReasonCode.SERVER_BUSY, "this node is full", kind);
  }

  /// @param sessions as in [#askForRoom]
  public boolean hasRoom(int sessions) {
    return sessions < maxSessions;
  }

  private AdmissionOutcome refused(ReasonCode alone, String why, ListenerKind kind) {
    Optional<String> reference = serverReferences.reference(kind);
    return new AdmissionOutcome.Refused(
        reference.isPresent() ? ReasonCode.USE_ANOTHER_SERVER : alone,
        why,
        reference,
        reference.isPresent() ? Duration.ZERO : gate.retryAfter());
  }

  /// A credential from this address was wrong. Above `cm.admission.address-failures-per-second` its
  /// sockets are closed before TLS.
  public void failed(@Nullable InetAddress source, long nowNanos) {
    if (source != null) {
      gate.failed(source, nowNanos);
    }
  }

  /// When a client that is refused for lack of room should come back, different for each client.
  public Duration retryAfter() {
    return gate.retryAfter();
  }

  /// From now on no device is admitted.
  public void drain() {
    draining = true;
  }

  /// The drain was cancelled.
  public void reopen() {
    draining = false;
  }

  public boolean isDraining() {
    return draining;
  }
}
