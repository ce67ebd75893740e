package io.pushplanet.cm.delivery;

import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SharedPublish;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.transport.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The broadcasts of one loop, one after the other, a slice of sessions in a turn, and after each as long a rest as its turn took: whatever else the loop has
/// to do comes in between. Confined to its event loop.
///
/// What is in flight is bounded in bytes, because what devices do not read lies in the kernel, some 2 KB for the smallest
/// message. At QoS 1 a message is in flight until it is settled; at QoS 0 nobody says when it was read: it counts for
/// [#UNHEARD].
final class BroadcastLane {
  /// Some 0.3 ms: so long waits whoever comes meanwhile.
  static final int SLICE = 16;

  /// Of a packet of 250 bytes that lies in a socket's buffer (measured: a million of them in 2.1 GB).
  static final int KERNEL_BYTES = 2_048;

  private static final long UNHEARD = Duration.ofMillis(250).toNanos();

  /// A gateway whose clock is behind this node's seems not to wait at all. The node offers the message to its devices all the same, as it does a frame's.
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

  /// @param mostBytes in flight on this loop
  BroadcastLane(Loop loop, long mostBytes, DeliveryMetrics metrics) {
    this.loop = loop;
    this.mostBytes = mostBytes;
    this.metrics = metrics;
  }

  /// The devices of one broadcast that one loop has. Filled by one thread, then confined to the loop.
  static final class Part {
    private final SharedPublish publish;
    private final TargetAnswers answers;
    private final long offerByNanos;
    private final int bytesEach;
    private final List<DeviceSession> sessions = new ArrayList<>();
    private int[] targets = new int[64];
    private long[] epochs = new long[64];
    private int next;

    Part(SharedPublish publish, TargetAnswers answers) {
      this.publish = publish;
      this.answers = answers;
      this.offerByNanos =
          Math.max(answers.answerByNanos, answers.arrivedNanos + OFFERED_AT_LEAST.toNanos());
      this.bytesEach = KERNEL_BYTES + publish.payload().size();
    }

    void add(DeviceSession session, int target, long epoch) {
      int size = sessions.size();
      if (size == targets.length) {
        targets = Arrays.copyOf(targets, 2 * size);
        epochs = Arrays.copyOf(epochs, 2 * size);
      }
      targets[size] = target;
      epochs[size] = epoch;
      sessions.add(session);
    }

    private boolean isDone() {
      return next == sessions.size();
    }

    private void settled(int index, Settlement settlement) {
      answers.settled(targets[index], sessions.get(index), epochs[index], settlement);
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
      // What goes wrong for one device is nothing to those behind it.
      if (more) {
        loop.execute(() -> rest(now));
      } else {
        scheduled = false;
      }
    }
  }

  /// The turn with the slice is over and its packets are written. Then the processor is for as long somebody else's: at full speed, who got a message
  /// of his own meanwhile waited behind all that this loop and its devices had to do for the broadcast. A loop that stood still in between
  /// has rested enough.
  private void rest(long slicedNanos) {
    var took = Duration.ofNanos(loop.nowNanos() - slicedNanos);
    loop.executeAfter(took.compareTo(LONGEST_REST) > 0 ? LONGEST_REST : took, this::slice);
  }

  /// @return whether it is to go on in another turn
  private boolean serve(long now) {
    for (int left = SLICE; left > 0; ) {
      var part = parts.peek();
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

  /// Goes on when devices have acknowledged enough, and looks after some milliseconds in any case: at QoS 0 nobody says that
  /// there is room again, and the gateway's patience ends.
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
      var message = new OutboundMessage(part.publish, part.answers.answerByNanos, this);
      bytesInFlight += part.bytesEach;
      offer(part.sessions.get(index), message);
    }

    @Override
    public void written() {
      part.answers.written();
    }

    @Override
    void settled(Settlement settlement) {
      landed(part.sessions.get(index), part.bytesEach, settlement);
      part.settled(index, settlement);
    }
  }

  private void landed(DeviceSession session, int bytes, Settlement settlement) {
    var subscription = session.subscription();
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
