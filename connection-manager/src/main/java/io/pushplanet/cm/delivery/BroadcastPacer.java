package io.pushplanet.cm.delivery;

import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.session.SharedPublish;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Sends the broadcasts of one loop, one after the other. Each turn serves a slice of sessions and
/// is followed by a rest of twice its length, so that the loop can do its other work in between.
/// Confined to its event loop.
///
/// The bytes in flight are bounded, because unread packets occupy kernel memory, about 2 KB for the
/// smallest message. At QoS 1 a message is in flight until it is settled; at QoS 0 there is no
/// acknowledgement, so it counts for [#UNHEARD].
final class BroadcastPacer {
  /// A slice takes about 0.3 ms, and other work on the loop waits that long.
  static final int SLICE = 16;

  /// How many times as long as its slice a rest is. With 1, the p99 of a message to one device was
  /// five times that without a broadcast; with 2 a broadcast takes a third longer; with 4 that p99
  /// is no better.
  private static final int RESTS = 2;

  /// The kernel memory for a packet of 250 bytes in a socket's buffer (measured: a million of them
  /// took 2.1 GB).
  static final int KERNEL_BYTES = 2_048;

  private static final long UNHEARD = Duration.ofMillis(250).toNanos();

  /// A gateway whose clock is behind this node's seems not to wait at all. The node offers its
  /// message to the devices nevertheless, as it does for a frame.
  private static final Duration OFFERED_AT_LEAST = Duration.ofSeconds(1);

  private static final Duration LOOKS_AGAIN = Duration.ofMillis(50);
  private static final Duration LONGEST_REST = Duration.ofMillis(50);

  private final Loop loop;
  private final long mostBytes;
  private final DeliveryMetrics metrics;
  private final ArrayDeque<Part> parts = new ArrayDeque<>();
  private boolean scheduled;
  private boolean paused;
  private boolean looksAgain;
  private long bytesInFlight;
  private long bytesUnheard;
  private long unheardSinceNanos;

  /// @param mostBytes how many bytes may be in flight on this loop
  BroadcastPacer(Loop loop, long mostBytes, DeliveryMetrics metrics) {
    this.loop = loop;
    this.mostBytes = mostBytes;
    this.metrics = metrics;
  }

  /// The devices of one broadcast that belong to one loop. Filled by one thread, then confined to
  /// the loop.
  static final class Part {
    private final SharedPublish publish;
    private final FrameTargets targets;
    private final long offerByNanos;
    private final int bytesEach;
    private final List<DeviceSession> sessions = new ArrayList<>();
    private int[] positions = new int[64];
    private long[] epochs = new long[64];
    private int next;

    Part(SharedPublish publish, FrameTargets targets) {
      this.publish = publish;
      this.targets = targets;
      this.offerByNanos =
          Math.max(targets.answerByNanos, targets.arrivedNanos + OFFERED_AT_LEAST.toNanos());
      this.bytesEach = KERNEL_BYTES + publish.payload().size();
    }

    void add(DeviceSession session, int position, long epoch) {
      int size = sessions.size();
      if (size == positions.length) {
        positions = Arrays.copyOf(positions, 2 * size);
        epochs = Arrays.copyOf(epochs, 2 * size);
      }
      positions[size] = position;
      epochs[size] = epoch;
      sessions.add(session);
    }

    private boolean isDone() {
      return next == sessions.size();
    }

    private void settled(int index, Settlement settlement) {
      targets.settled(positions[index], sessions.get(index), epochs[index], settlement);
    }
  }

  void add(Part part) {
    parts.add(part);
    schedule();
  }

  private void schedule() {
    if (!scheduled) {
      scheduled = true;
      loop.execute(this::slice);
    }
  }

  private void slice() {
    paused = false;
    long now = loop.nowNanos();
    if (now - unheardSinceNanos > UNHEARD) {
      bytesInFlight -= bytesUnheard;
      bytesUnheard = 0;
      unheardSinceNanos = now;
    }
    boolean more = true;
    try {
      more = serve(now);
    } finally {
      // A fault of one device must not affect the devices behind it.
      if (more) {
        loop.execute(() -> rest(now));
      } else {
        scheduled = false;
      }
    }
  }

  /// Called when the slice's packets are written. At full speed, a device that got a message of its
  /// own meanwhile waited for all the work that the broadcast caused on this loop and at its
  /// devices. A loop that stood still in between has rested enough.
  private void rest(long slicedNanos) {
    var rest = Duration.ofNanos(RESTS * (loop.nowNanos() - slicedNanos));
    loop.executeAfter(rest.compareTo(LONGEST_REST) > 0 ? LONGEST_REST : rest, this::slice);
  }

  /// @return whether to continue in another turn
  private boolean serve(long now) {
    for (int left = SLICE; left > 0; ) {
      Part part = parts.peek();
      if (part == null) {
        return false;
      }
      if (part.isDone()) {
        parts.remove();
      } else if (now - part.offerByNanos > 0) {
        part.settled(part.next++, new Settlement.TimedOut());
      } else if (bytesInFlight >= mostBytes) {
        pause();
        return false;
      } else {
        new Target(part, part.next++).offer();
        left--;
      }
    }
    return true;
  }

  /// Continues when devices have acknowledged enough, and looks again after some milliseconds in
  /// any case: at QoS 0 no event says that there is room again, and the gateway's deadline may
  /// pass.
  private void pause() {
    paused = true;
    metrics.paced.increment();
    if (!looksAgain) {
      looksAgain = true;
      loop.executeAfter(
          LOOKS_AGAIN,
          () -> {
            looksAgain = false;
            schedule();
          });
    }
  }

  private final class Target extends OpenTarget {
    private final Part part;
    private final int index;

    Target(Part part, int index) {
      this.part = part;
      this.index = index;
    }

    void offer() {
      var message = new OutboundMessage(part.publish, part.targets.answerByNanos, this);
      bytesInFlight += part.bytesEach;
      offer(part.sessions.get(index), message);
    }

    @Override
    public void written() {
      part.targets.written();
    }

    @Override
    void settled(Settlement settlement) {
      landed(part.sessions.get(index), part.bytesEach, settlement);
      part.settled(index, settlement);
    }
  }

  private void landed(DeviceSession session, int bytes, Settlement settlement) {
    Subscription subscription = session.subscription();
    boolean unheard =
        settlement instanceof Settlement.Delivered
            && subscription != null
            && subscription.qos() == QoS.AT_MOST_ONCE;
    if (unheard) {
      bytesUnheard += bytes;
      return;
    }
    bytesInFlight -= bytes;
    if (paused && bytesInFlight < mostBytes - mostBytes / 4) {
      paused = false;
      schedule();
    }
  }
}
