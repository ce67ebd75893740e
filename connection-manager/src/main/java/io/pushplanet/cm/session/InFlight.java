package io.pushplanet.cm.session;

import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import org.jspecify.annotations.Nullable;

/// One message that was sent to the device and is not acknowledged. Confined to the session's event
/// loop.
final class InFlight {
  /// 0 at QoS 0.
  final int packetId;

  final long sentNanos;
  final SharedPublish publish;
  private final boolean again;
  private final boolean repeat;
  // Null once its origin was told: the message refers to a whole frame, and a device may never
  // acknowledge.
  private @Nullable OutboundMessage unsettled;

  private InFlight(
      int packetId,
      long sentNanos,
      SharedPublish publish,
      boolean again,
      boolean repeat,
      @Nullable OutboundMessage unsettled) {
    this.packetId = packetId;
    this.sentNanos = sentNanos;
    this.publish = publish;
    this.again = again;
    this.repeat = repeat;
    this.unsettled = unsettled;
  }

  /// @param repeat whether another node may have sent it to the device
  static InFlight first(int packetId, long sentNanos, OutboundMessage message, boolean repeat) {
    return new InFlight(packetId, sentNanos, message.publish(), false, repeat, message);
  }

  /// A message that an earlier connection left unacknowledged, under its packet id. Its origin was
  /// told when that connection ended.
  static InFlight again(Unacknowledged left, long sentNanos) {
    return new InFlight(left.packetId(), sentNanos, left.publish(), true, true, null);
  }

  /// Whether the PUBLISH has the DUP flag.
  boolean isRepeat() {
    return repeat;
  }

  /// The same message arrived from another origin, because it was parked after a timeout and then
  /// drained. This packet's acknowledgement settles that one.
  void carry(OutboundMessage same, SessionMetrics metrics) {
    tell(new Settlement.TimedOut(), metrics);
    unsettled = same;
  }

  /// Tells the origin once its deadline has passed.
  void timeOut(long nowNanos, SessionMetrics metrics) {
    if (isOverdue(nowNanos)) {
      tell(new Settlement.TimedOut(), metrics);
    }
  }

  /// Ends the flight and tells the origin, unless it was told before. An acknowledgement after the
  /// origin's deadline goes to [LateAcknowledgements].
  void settle(Settlement settlement, HeldKey device, DeviceSession.Shared shared, long nowNanos) {
    Settlement end = settlement;
    if (settlement instanceof Settlement.Delivered && isLate(nowNanos)) {
      end =
          new Settlement.Delivered(
              shared.late().add(device, publish.id(), shared.clock().instant()));
      shared.metrics().lateAcknowledgements.increment();
    }
    tell(end, shared.metrics());
  }

  private void tell(Settlement settlement, SessionMetrics metrics) {
    OutboundMessage message = unsettled;
    if (message != null) {
      unsettled = null;
      message.settle(settlement, metrics);
    }
  }

  /// Whether the origin may have stopped waiting. An origin is told of its timeout only by the
  /// sweep after its deadline.
  private boolean isLate(long nowNanos) {
    return again || unsettled == null || isOverdue(nowNanos);
  }

  private boolean isOverdue(long nowNanos) {
    return unsettled != null && unsettled.isOverdue(nowNanos);
  }
}
