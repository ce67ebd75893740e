package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.Rate;
import io.pushplanet.cm.transport.socket.ListeningSocket;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One loop's listening socket. Accepts a few connections per turn, so that existing connections
/// get their turn (https://github.com/emqx/emqx/issues/1663), and none while the node has no room
/// for them: those wait in the kernel's accept queue, where they cost the node nothing. While it
/// rests, the poller does not watch the socket, so a full accept queue burns no CPU. Confined to
/// its loop.
final class Acceptor {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);

  /// Each accept takes about twenty microseconds, so the loop's connections wait for a third of a
  /// millisecond.
  static final int ACCEPTS_PER_TURN = 16;

  /// A rest is never shorter, so that a low rate does not wake the loop for every single device.
  private static final long SHORTEST_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final EventLoop loop;
  private final ListeningSocket socket;
  private final Listener listener;
  private final Rate rate;
  private boolean resting;
  private long restUntilNanos;

  Acceptor(EventLoop loop, ListeningSocket socket, Listener listener, Rate rate) {
    this.loop = loop;
    this.socket = socket;
    this.listener = listener;
    this.rate = rate;
  }

  /// When the acceptor wants to be woken; far in the future unless it rests.
  long nextNanos(long nowNanos) {
    return resting ? restUntilNanos : nowNanos + Long.MAX_VALUE / 2;
  }

  void wakeWhenDue(long nowNanos) {
    if (resting && restUntilNanos - nowNanos <= 0) {
      resting = false;
      socket.listening(true);
    }
  }

  void close() {
    resting = false;
    socket.close();
  }

  void accept() {
    long now = loop.nowNanos();
    for (int count = 0; count < ACCEPTS_PER_TURN && !resting; count++) {
      if (loop.heap.isFull() && !listener.trusted()) {
        rest(Pressure.Kind.HEAP, REST_NANOS);
        return;
      }
      if (loop.descriptors.areScarce() && !listener.trusted()) {
        rest(Pressure.Kind.DESCRIPTORS, REST_NANOS);
        return;
      }
      if (loop.unauthenticatedBudget(listener).isNearlySpent()) {
        rest(Pressure.Kind.UNAUTHENTICATED_BYTES, REST_NANOS);
        return;
      }
      long wait = rate.waitNanos(now);
      if (wait > 0) {
        rest(Pressure.Kind.CONNECT_RATE, wait);
        return;
      }
      ListeningSocket.@Nullable Arrival arrival;
      try {
        arrival = socket.accept();
      } catch (ListeningSocket.NoDescriptor exhausted) {
        loop.metrics.acceptFailures.increment();
        rest(Pressure.Kind.DESCRIPTORS, REST_NANOS);
        return;
      } catch (IOException refused) {
        if (!loop.pressure.isFelt(Pressure.Kind.KERNEL)) {
          LOG.warn("event=accept_failed reason=\"{}\"", refused.getMessage());
        }
        loop.metrics.acceptFailures.increment();
        rest(Pressure.Kind.KERNEL, REST_NANOS);
        return;
      }
      if (arrival == null) {
        return;
      }
      try {
        judge(arrival, now);
      } catch (RuntimeException | Error bug) {
        loop.metrics.loopErrors.increment();
        LOG.error("event=accept_error listener={}", listener.name(), bug);
        arrival.wire().close();
      }
    }
  }

  private void judge(ListeningSocket.Arrival arrival, long now) {
    AcceptGate.Verdict verdict =
        listener.trusted()
            ? loop.gate.judgeAtTrusted(arrival.source(), now)
            : loop.gate.judge(arrival.source(), now);
    loop.metrics.accepted(verdict);
    if (verdict != AcceptGate.Verdict.ADMITTED) {
      loop.pressure.felt(Pressure.Kind.TURNED_AWAY, now);
      loop.held.hold(arrival.wire(), now);
      return;
    }
    rate.spend(now);
    if (!loop.adopt(arrival, listener)) {
      rest(Pressure.Kind.KERNEL, REST_NANOS);
    }
  }

  private void rest(Pressure.Kind why, long nanos) {
    loop.pressure.felt(why, loop.nowNanos());
    resting = true;
    restUntilNanos = loop.nowNanos() + Math.max(SHORTEST_REST_NANOS, nanos);
    socket.listening(false);
  }
}
