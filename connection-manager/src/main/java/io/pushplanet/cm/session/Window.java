package io.pushplanet.cm.session;

import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import io.pushplanet.common.message.MessageId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The messages of one session that are in flight, in the order in which they were sent. While none
/// is in flight, a session holds the shared [#empty]. Confined to its event loop.
final class Window extends Backlog<InFlight> {
  static final int LAST_PACKET_ID = 0xFFFF;
  private static final Window EMPTY = new Window(0);

  private Window(int room) {
    super(room);
  }

  /// The shared empty window; nothing may be added to it.
  static Window empty() {
    return EMPTY;
  }

  @Override
  Window with(InFlight sent) {
    Window held = isEmpty() ? new Window(ROOM) : this;
    held.add(sent);
    return held;
  }

  @Override
  Window orNone() {
    return isEmpty() ? EMPTY : this;
  }

  /// Removes the message with this packet id; null when none is in flight.
  @Nullable InFlight take(int packetId) {
    for (int index = 0; index < size(); index++) {
      if (get(index).packetId == packetId) {
        return remove(index);
      }
    }
    return null;
  }

  /// Removes the last message that was sent at QoS 0; null when there is none.
  @Nullable InFlight takeWithoutId() {
    for (int index = size() - 1; index >= 0; index--) {
      if (get(index).packetId == 0) {
        return remove(index);
      }
    }
    return null;
  }

  @Nullable InFlight find(MessageId message) {
    for (InFlight sent : this) {
      if (sent.publish.id().equals(message)) {
        return sent;
      }
    }
    return null;
  }

  /// The next free packet id. A window has fewer places than there are ids.
  int packetIdAfter(int last) {
    int next = last;
    do {
      next = next == LAST_PACKET_ID ? 1 : next + 1;
    } while (!isFree(next));
    return next;
  }

  private boolean isFree(int packetId) {
    for (InFlight sent : this) {
      if (sent.packetId == packetId) {
        return false;
      }
    }
    return true;
  }

  /// Whether all messages were sent at least this long ago.
  boolean isOlderThan(long nanos, long nowNanos) {
    for (InFlight sent : this) {
      if (nowNanos - sent.sentNanos < nanos) {
        return false;
      }
    }
    return true;
  }

  /// The first message that was sent at QoS 1 more than `patienceNanos` ago and since when no bytes
  /// have come from the device.
  @Nullable InFlight unheard(long patienceNanos, long nowNanos, Link link) {
    for (InFlight sent : this) {
      if (sent.packetId != 0
          && nowNanos - sent.sentNanos > patienceNanos
          && !link.hasHeardSince(sent.sentNanos)) {
        return sent;
      }
    }
    return null;
  }

  /// Tells the origins whose deadline has passed.
  void timeOut(long nowNanos, SessionMetrics metrics) {
    // By index, because an origin may offer the next message when it is told.
    for (int index = 0; index < size(); index++) {
      get(index).timeOut(nowNanos, metrics);
    }
  }

  /// The messages that were sent at QoS 1.
  List<Unacknowledged> unacknowledged() {
    var left = new ArrayList<Unacknowledged>();
    for (InFlight sent : this) {
      if (sent.packetId != 0) {
        left.add(new Unacknowledged(sent.packetId, sent.publish));
      }
    }
    return left;
  }
}
