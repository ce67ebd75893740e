package io.pushplanet.cm.uplink;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A device's publishes that the broker has not confirmed. They are acknowledged in the order in
/// which they came, as the protocol demands, whatever the order of the broker's confirms. Publishes
/// at QoS 0 have no packet id (0) and no acknowledgement, so they are only counted; when the window
/// has been full with some of them for [#PATIENCE_NANOS], the device no longer waits for those.
/// Confined to the connection's event loop.
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

  public int most() {
    return most;
  }

  /// Whether the window has as many publishes as a client may have open.
  public boolean isFull() {
    return numbered() + withoutId >= most;
  }

  /// Whether the window is full, counting QoS 0, and the device still waits for those.
  public boolean isHeldBack() {
    return withoutId > 0 && isFull() && !impatient;
  }

  /// Whether the window is full and a further publish at QoS 0 must be dropped.
  public boolean isOverrun() {
    return impatient && isFull();
  }

  /// Stops waiting for publishes at QoS 0 when the window has been full for too long.
  public void swept(long nowNanos) {
    impatient |= isHeldBack() && nowNanos - fullSinceNanos > PATIENCE_NANOS;
  }

  /// Whether a further publish at QoS 1 would exceed the Receive Maximum.
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

  /// A publish can be acknowledged: runs `acknowledge` now or when its turn comes; never at QoS 0.
  public void done(int packetId, Runnable acknowledge) {
    if (packetId == 0) {
      withoutId--;
    } else if (entries != null) {
      acknowledge(entries, packetId, acknowledge);
    }
    impatient &= isFull();
  }

  private void acknowledge(ArrayDeque<Entry> open, int packetId, Runnable acknowledge) {
    for (Entry entry : open) {
      if (entry.packetId == packetId && entry.acknowledge == null) {
        entry.acknowledge = acknowledge;
        break;
      }
    }
    Entry head = open.peek();
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
