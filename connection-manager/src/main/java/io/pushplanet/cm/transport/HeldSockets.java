package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.gate.AcceptGate;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sockets that were turned away and are closed a random while later: an answer at once would be an invitation to try again
/// at once. No selector, handler, buffer or timer; only so many, the next one is reset immediately. Confined to its loop.
final class HeldSockets {
  private static final Logger LOG = LoggerFactory.getLogger(HeldSockets.class);

  private final AcceptGate gate;
  private final int most;
  private final PriorityQueue<Held> held =
      new PriorityQueue<>(Comparator.comparingLong(Held::untilNanos));

  private record Held(SocketChannel channel, long untilNanos) {}

  HeldSockets(AcceptGate gate, int loops) {
    this.gate = gate;
    this.most = gate.mostHeld() / loops;
  }

  void hold(SocketChannel channel, long nowNanos) {
    if (held.size() < most) {
      held.add(new Held(channel, nowNanos + gate.holdNanos()));
    } else {
      reset(channel);
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
      reset(first.channel());
    }
  }

  void closeAll() {
    held.forEach(one -> reset(one.channel()));
    held.clear();
  }

  /// By RST, so that no TIME_WAIT is left of it in the kernel.
  private static void reset(SocketChannel channel) {
    try {
      channel.setOption(StandardSocketOptions.SO_LINGER, 0);
    } catch (IOException gone) {
      LOG.debug("event=socket_gone_before_reset");
    }
    EventLoop.closeQuietly(channel);
  }
}
