package io.pushplanet.cm.uplink;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// A device's publishes that the broker has not confirmed. Acknowledges in the order they came, as the protocol demands, however
/// the broker's confirms arrive. Those of QoS 0 have no packet id (0) and no acknowledgement: they are only counted. Confined
/// to the connection's event loop.
public final class InboundWindow {
  private final int most;
  private @Nullable ArrayDeque<Entry> entries;
  private int withoutId;

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

  /// Whether so many are open as a client may have.
  public boolean isFull() {
    return numbered() + withoutId >= most;
  }

  /// Whether it is full, and not by those alone that a Receive Maximum counts.
  public boolean isFullBeyondNumbers() {
    return withoutId > 0 && isFull();
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
  public void arrived(int packetId) {
    if (packetId == 0) {
      withoutId++;
      return;
    }
    if (entries == null) {
      entries = new ArrayDeque<>(2);
    }
    entries.add(new Entry(packetId));
  }

  /// One can be acknowledged: runs `acknowledge` now, or when its turn comes; never at QoS 0.
  public void done(int packetId, Runnable acknowledge) {
    if (packetId == 0) {
      withoutId--;
      return;
    }
    var open = entries;
    if (open == null) {
      return;
    }
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
