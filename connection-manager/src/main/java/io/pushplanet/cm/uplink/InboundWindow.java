package io.pushplanet.cm.uplink;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// A device's unacknowledged publishes. Acknowledges in the order they came, as the protocol demands, however the broker's
/// confirms arrive. Confined to the connection's event loop.
public final class InboundWindow {
  private final int most;
  private @Nullable ArrayDeque<Entry> entries;

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

  public boolean isFull() {
    return entries != null && entries.size() >= most;
  }

  public boolean isEmpty() {
    return entries == null;
  }

  public void arrived(int packetId) {
    if (entries == null) {
      entries = new ArrayDeque<>(2);
    }
    entries.add(new Entry(packetId));
  }

  /// One can be acknowledged: runs `acknowledge` now, or when its turn comes.
  public void done(int packetId, Runnable acknowledge) {
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
