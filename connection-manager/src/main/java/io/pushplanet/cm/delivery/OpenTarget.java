package io.pushplanet.cm.delivery;

import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.Settlement;

/// An admitted target, which its session tells how the message ended. Settled exactly once.
/// Confined to its session's event loop.
abstract class OpenTarget implements OutboundMessage.Origin {
  private boolean settled;

  /// How the target's message ended; called once.
  abstract void settled(Settlement settlement);

  final void offer(DeviceSession session, OutboundMessage message) {
    try {
      session.offer(message);
    } catch (RuntimeException | Error bug) {
      // The device may have the message.
      settled(message, new Settlement.TimedOut());
      throw bug;
    }
  }

  @Override
  public final void settled(OutboundMessage message, Settlement settlement) {
    if (!settled) {
      settled = true;
      settled(settlement);
    }
  }
}
