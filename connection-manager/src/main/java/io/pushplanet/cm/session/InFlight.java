package io.pushplanet.cm.session;

import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import org.jspecify.annotations.Nullable;

/// One message on the wire: sent to the device, which has not acknowledged it. Confined to the session's event loop.
final class InFlight {
  /// 0 at QoS 0.
  final int packetId;

  final long sentNanos;
  final SharedPublish publish;
  private final boolean again;
  // Null once its origin was told: behind that is a whole frame, and a device may never
  // acknowledge.
  private @Nullable OutboundMessage unsettled;

  private InFlight(
      int packetId,
      long sentNanos,
      SharedPublish publish,
      boolean again,
      @Nullable OutboundMessage unsettled) {
    this.packetId = packetId;
    this.sentNanos = sentNanos;
    this.publish = publish;
    this.again = again;
    this.unsettled = unsettled;
  }

  static InFlight first(int packetId, long sentNanos, OutboundMessage message) {
    return new InFlight(packetId, sentNanos, message.publish(), false, message);
  }

  /// What an earlier connection left, under its packet id; that connection's end was told to the origin.
  static InFlight again(Unacknowledged left, long sentNanos) {
    return new InFlight(left.packetId(), sentNanos, left.publish(), true, null);
  }

  /// Whether it goes out with DUP.
  boolean isAgain() {
    return again;
  }

  /// The same message from another origin (parked after a timeout, then drained) rides on this packet.
  void carry(OutboundMessage same, SessionMetrics metrics) {
    tell(new Settlement.TimedOut(), metrics);
    unsettled = same;
  }

  /// Tells the origin when it has waited for long enough.
  void timeOut(long nowNanos, SessionMetrics metrics) {
    if (isOverdue(nowNanos)) {
      tell(new Settlement.TimedOut(), metrics);
    }
  }

  /// It is in flight no longer: tells the origin, unless that was told before. What comes when the origin may have stopped
  /// waiting is one of the [LateAcknowledgements].
  void settle(Settlement settlement, HeldKey device, DeviceSession.Shared shared, long nowNanos) {
    var end = settlement;
    if (settlement instanceof Settlement.Delivered && isLate(nowNanos)) {
      end =
          new Settlement.Delivered(
              shared.late().add(device, publish.id(), shared.clock().instant()));
      shared.metrics().lateAcknowledgements.increment();
    }
    tell(end, shared.metrics());
  }

  private void tell(Settlement settlement, SessionMetrics metrics) {
    var message = unsettled;
    if (message != null) {
      unsettled = null;
      message.settle(settlement, metrics);
    }
  }

  /// Whether the origin may have stopped waiting. Between its deadline and the next sweep it has not been told so.
  private boolean isLate(long nowNanos) {
    return again || unsettled == null || isOverdue(nowNanos);
  }

  private boolean isOverdue(long nowNanos) {
    return unsettled != null && unsettled.isOverdue(nowNanos);
  }
}
