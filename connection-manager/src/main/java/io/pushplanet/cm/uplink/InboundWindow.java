package io.pushplanet.cm.uplink;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A device's publishes that the broker has not confirmed. Acknowledges in the order they came, as the protocol demands, however
/// the broker's confirms arrive. Those of QoS 0 have no packet id (0) and no acknowledgement: they are only counted, and when
/// it has been full with some of them for [#PATIENCE_NANOS] there is no more waiting for those. Confined to the connection's event
/// loop.
public final class InboundWindow {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final int most;
  private @Nullable ArrayDeque<Entry> entries;
  private int withoutId;
  private long fullSinceNanos;
  private boolean impatient;

  private static final class Entry {
    final int packetId;
    @Nullable Runnable acknowledge;

    Entry(int packetId) {
      this.packetId = packetId;
    }
  }

  /// @param most the Receive Maximum that the client was told
  public InboundWindow(int most) {
    this.most = most;
  }

  /// The Receive Maximum that the client was told.
  public int most() {
    return most;
  }

  /// Whether so many are open as a client may have.
  public boolean isFull() {
    return numbered() + withoutId >= most;
  }

  /// Whether it is full by those of QoS 0, too, and they are still waited for.
  public boolean isHeldBack() {
    return withoutId > 0 && isFull() && !impatient;
  }

  /// Whether it is full and one more of QoS 0 is not waited for any more.
  public boolean isOverrun() {
    return impatient && isFull();
  }

  /// Gives up waiting for those of QoS 0 when it has been full for too long.
  public void swept(long nowNanos) {
    impatient |= isHeldBack() && nowNanos - fullSinceNanos > PATIENCE_NANOS;
  }

  /// Whether one more that asks for an acknowledgement exceeds the Receive Maximum.
  public boolean isExhausted() {
    return numbered() >= most;
  }

  private int numbered() {
    return entries == null ? 0 : entries.size();
  }

  public boolean isEmpty() {
    return entries == null && withoutId == 0;
  }

  /// @param packetId 0 at QoS 0
  public void arrived(int packetId, long nowNanos) {
    boolean wasFull = isFull();
    if (packetId == 0) {
      withoutId++;
    } else {
      if (entries == null) {
        entries = new ArrayDeque<>(2);
      }
      entries.add(new Entry(packetId));
    }
    if (!wasFull) {
      fullSinceNanos = nowNanos;
    }
  }

  /// One can be acknowledged: runs `acknowledge` now, or when its turn comes; never at QoS 0.
  public void done(int packetId, Runnable acknowledge) {
    if (packetId == 0) {
      withoutId--;
    } else if (entries != null) {
      acknowledge(entries, packetId, acknowledge);
    }
    impatient &= isFull();
  }

  private void acknowledge(ArrayDeque<Entry> open, int packetId, Runnable acknowledge) {
    for (var entry : open) {
      if (entry.packetId == packetId && entry.acknowledge == null) {
        entry.acknowledge = acknowledge;
        break;
      }
    }
    var head = open.peek();
    while (head != null && head.acknowledge != null) {
      open.remove();
      head.acknowledge.run();
      head = open.peek();
    }
    if (open.isEmpty()) {
      entries = null;
    }
  }
}
