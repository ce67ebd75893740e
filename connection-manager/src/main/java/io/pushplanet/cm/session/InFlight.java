package io.pushplanet.cm.session;

import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;

/// One message on the wire: sent to the device, which has not acknowledged it. Confined to the session's event loop.
final class InFlight {
  /// 0 at QoS 0.
  final int packetId;

  final long sentNanos;
  private final boolean again;
  private OutboundMessage message;
  private boolean settled;

  private InFlight(int packetId, long sentNanos, OutboundMessage message, boolean again) {
    this.packetId = packetId;
    this.sentNanos = sentNanos;
    this.message = message;
    this.again = again;
    this.settled = again;
  }

  static InFlight first(int packetId, long sentNanos, OutboundMessage message) {
    return new InFlight(packetId, sentNanos, message, false);
  }

  /// What an earlier connection left, under its packet id; that connection's end was told to the origin.
  static InFlight again(Unacknowledged left, long sentNanos) {
    return new InFlight(left.packetId(), sentNanos, left.message(), true);
  }

  OutboundMessage message() {
    return message;
  }

  /// Whether it goes out with DUP.
  boolean isAgain() {
    return again;
  }

  /// The same message from another origin (parked after a timeout, then drained) rides on this packet.
  void carry(OutboundMessage same, SessionMetrics metrics) {
    if (!settled) {
      message.settle(new Settlement.TimedOut(), metrics);
    }
    message = same;
    settled = false;
  }

  /// Tells the origin when it has waited for long enough.
  void timeOut(long nowNanos, SessionMetrics metrics) {
    if (!settled && message.isOverdue(nowNanos)) {
      settled = true;
      message.settle(new Settlement.TimedOut(), metrics);
    }
  }

  /// It is in flight no longer: tells the origin, unless that was told before. What comes when the origin may have stopped
  /// waiting is one of the [LateAcknowledgements].
  void settle(Settlement settlement, HeldKey device, DeviceSession.Shared shared, long nowNanos) {
    var end = settlement;
    if (settlement instanceof Settlement.Delivered && isLate(nowNanos)) {
      end =
          new Settlement.Delivered(
              shared.late().add(device, message.id(), shared.clock().instant()));
      shared.metrics().lateAcknowledgements.increment();
    }
    if (!settled) {
      settled = true;
      message.settle(end, shared.metrics());
    }
  }

  /// Whether the origin may have stopped waiting. Between its deadline and the next sweep it has not been told so.
  private boolean isLate(long nowNanos) {
    return again || settled || message.isOverdue(nowNanos);
  }
}
