package io.pushplanet.cm.transport;

import static java.util.Locale.ROOT;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The reasons why this node does not accept every client at once. Each kind has a gauge
/// (`cm.pressure`), and one log line when it begins and one when it has not been felt for
/// [#CALM_NANOS]; in between nothing is logged, however often it is felt. Thread-safe, lock-free.
final class Pressure {
  private static final Logger LOG = LoggerFactory.getLogger(Pressure.class);
  private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(3);

  /// A scarce resource, with advice for the operator.
  enum Kind {
    CONNECT_RATE(
        "devices come faster than cm.admission.connects-per-second: they wait in the kernel's line"),
    DESCRIPTORS(
        "devices hold all file descriptors but the reserve for gateways and servers, or none is left:"
            + " accepting pauses; raise ulimit -n or lower cm.admission.max-sessions"),
    KERNEL(
        "the kernel refuses more connections though there are descriptors, for want of memory for"
            + " instance: accepting pauses"),
    UNAUTHENTICATED_BYTES(
        "peers without a CONNECT hold nearly cm.transport.unauthenticated-bytes but for the"
            + " sixteenths of other ports: accepting pauses where they are"),
    PARTIAL_BYTES(
        "packets whose rest has not come, or that wait to be read, hold cm.transport.partial-bytes:"
            + " devices whose packets find no room are closed; raise it where they are honest, and the heap with it"),
    HEAP(
        "the heap is nearly full after a collection: accepting pauses, inboxes are read slowly, slow"
            + " readers are closed sooner; give the process more"),
    HANDSHAKES(
        "more TLS handshakes than cm.tls.handshakes-waiting: the oldest are given up, the newest go"
            + " first"),
    TURNED_AWAY(
        "some addresses exceed cm.admission.address-connects-per-second or"
            + " .address-failures-per-second: they are closed before TLS"),
    BACKLOG("the kernel's line before a listener overflows: devices have to try again");

    private final String meaning;

    Kind(String meaning) {
      this.meaning = meaning;
    }
  }

  private final AtomicLongArray lastFelt = new AtomicLongArray(Kind.values().length);
  private final AtomicLongArray since = new AtomicLongArray(Kind.values().length);
  private final AtomicIntegerArray felt = new AtomicIntegerArray(Kind.values().length);

  Pressure(MeterRegistry meters) {
    for (Kind kind : Kind.values()) {
      Gauge.builder("cm.pressure", felt, states -> states.get(kind.ordinal()))
          .description("1 while the pressure lasts")
          .tag("kind", kind.name().toLowerCase(ROOT))
          .register(meters);
    }
  }

  void felt(Kind kind, long nowNanos) {
    lastFelt.set(kind.ordinal(), nowNanos);
    if (felt.get(kind.ordinal()) == 0 && felt.compareAndSet(kind.ordinal(), 0, 1)) {
      since.set(kind.ordinal(), nowNanos);
      LOG.warn(
          "event=pressure_began kind={} meaning=\"{}\"",
          kind.name().toLowerCase(ROOT),
          kind.meaning);
    }
  }

  boolean isFelt(Kind kind) {
    return felt.get(kind.ordinal()) == 1;
  }

  /// Called once a second.
  void settle(long nowNanos) {
    for (Kind kind : Kind.values()) {
      int index = kind.ordinal();
      if (felt.get(index) == 1
          && nowNanos - lastFelt.get(index) > CALM_NANOS
          && felt.compareAndSet(index, 1, 0)) {
        LOG.info(
            "event=pressure_over kind={} seconds={}",
            kind.name().toLowerCase(ROOT),
            TimeUnit.NANOSECONDS.toSeconds(nowNanos - since.get(index)));
      }
    }
  }
}
