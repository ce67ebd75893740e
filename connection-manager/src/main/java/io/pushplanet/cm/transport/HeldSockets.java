package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.socket.Wire;
import java.util.Comparator;
import java.util.PriorityQueue;

/// Sockets of refused clients, which are closed after a random delay: an immediate close would make
/// clients try again at once. A held socket has no poller, handler, buffer or timer. Their number
/// is bounded; a further socket is reset immediately. Confined to its loop.
final class HeldSockets {
  private final AcceptGate gate;
  private final Descriptors descriptors;
  private final int most;
  private final PriorityQueue<Held> held =
      new PriorityQueue<>(Comparator.comparingLong(Held::untilNanos));

  private record Held(Wire wire, long untilNanos) {}

  HeldSockets(AcceptGate gate, Descriptors descriptors, int loops) {
    this.gate = gate;
    this.descriptors = descriptors;
    this.most = gate.maxHeld() / loops;
  }

  void hold(Wire wire, long nowNanos) {
    if (held.size() < most) {
      held.add(new Held(wire, nowNanos + gate.holdNanos()));
      descriptors.opened(1);
    } else {
      wire.reset();
    }
  }

  /// When [#closeDue] has to run next; far in the future when no socket is held.
  long nextNanos(long nowNanos) {
    Held first = held.peek();
    return first == null ? nowNanos + Long.MAX_VALUE / 2 : first.untilNanos();
  }

  void closeDue(long nowNanos) {
    for (Held first = held.peek();
        first != null && first.untilNanos() - nowNanos <= 0;
        first = held.peek()) {
      held.remove();
      first.wire().reset();
      descriptors.closed(1);
    }
  }

  void closeAll() {
    held.forEach(one -> one.wire().reset());
    descriptors.closed(held.size());
    held.clear();
  }
}
