package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.socket.Wire;
import java.util.Comparator;
import java.util.PriorityQueue;

/// Sockets that were turned away and are closed a random while later: an answer at once would be an invitation to try again
/// at once. No poller, handler, buffer or timer; only so many, the next one is reset immediately. Confined to its loop.
final class HeldSockets {
  private final AcceptGate gate;
  private final int most;
  private final PriorityQueue<Held> held =
      new PriorityQueue<>(Comparator.comparingLong(Held::untilNanos));

  private record Held(Wire wire, long untilNanos) {}

  HeldSockets(AcceptGate gate, int loops) {
    this.gate = gate;
    this.most = gate.mostHeld() / loops;
  }

  void hold(Wire wire, long nowNanos) {
    if (held.size() < most) {
      held.add(new Held(wire, nowNanos + gate.holdNanos()));
    } else {
      wire.reset();
    }
  }

  /// When [#closeDue] has something to do next; far away when nothing is held.
  long nextNanos(long nowNanos) {
    var first = held.peek();
    return first == null ? nowNanos + Long.MAX_VALUE / 2 : first.untilNanos();
  }

  void closeDue(long nowNanos) {
    for (var first = held.peek();
        first != null && first.untilNanos() - nowNanos <= 0;
        first = held.peek()) {
      held.remove();
      first.wire().reset();
    }
  }

  void closeAll() {
    held.forEach(one -> one.wire().reset());
    held.clear();
  }
}
