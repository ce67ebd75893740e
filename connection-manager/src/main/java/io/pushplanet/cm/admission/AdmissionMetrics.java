package io.pushplanet.cm.admission;

import static java.util.Locale.ROOT;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.ReasonCode;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/// Meters of what devices are refused, from CONNECT to their publishes, and of those admitted.
/// Thread-safe.
public final class AdmissionMetrics {
  // Reasons of their own: MQTT's "not authorised" has many other causes, too, and a device that
  // finds the node full is told another code when there is another node.
  private static final String DEVICE_DELETED = "device_deleted";
  private static final String FULL = "full";

  private final Map<ReasonCode, Counter> refused = new EnumMap<>(ReasonCode.class);
  private final Counter deviceDeleted;
  private final Counter full;
  private final Counter connected;

  public AdmissionMetrics(MeterRegistry meters) {
    for (ReasonCode reason : ReasonCode.values()) {
      refused.put(
          reason,
          meters.counter("cm.admission.refused", "reason", reason.name().toLowerCase(ROOT)));
    }
    deviceDeleted = meters.counter("cm.admission.refused", "reason", DEVICE_DELETED);
    full = meters.counter("cm.admission.refused", "reason", FULL);
    connected = meters.counter("cm.admission.connected");
  }

  /// A device was refused something.
  public void refused(ReasonCode reason) {
    Objects.requireNonNull(refused.get(reason)).increment();
  }

  /// A password from before the deletion of its device was refused.
  public void deviceDeleted() {
    deviceDeleted.increment();
  }

  /// There was no room for a device.
  public void full() {
    full.increment();
  }

  public void connected() {
    connected.increment();
  }
}
