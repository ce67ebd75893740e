package io.pushplanet.cm.delivery;

import io.pushplanet.cm.directory.OwnershipDoubts;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.Letter;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.Refusal;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings one message to many devices of this node. Their sessions are looked up at once, and handed to their loops, which
/// bring it to them a slice at a time ([BroadcastLane]). Thread-safe; nobody waits. Every device is answered exactly once.
public final class BroadcastDispatch {
  private static final Logger LOG = LoggerFactory.getLogger(BroadcastDispatch.class);

  /// A gateway whose clock is behind this node's seems to wait for nothing. Its devices are sent to all the same, as a frame's are.
  private static final Duration OFFERED_AT_LEAST = Duration.ofSeconds(1);

  private final SessionTable sessions;
  private final DeliverySettings settings;
  private final DeliveryMetrics metrics;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final OwnershipDoubts doubts;
  private final Map<Loop, BroadcastLane> lanes = new ConcurrentHashMap<>();

  /// @param doubts told where gateways are wrong about who has a device, or this node is
  public BroadcastDispatch(
      SessionTable sessions,
      DeliverySettings settings,
      DeliveryMetrics metrics,
      InstantSource clock,
      LongSupplier nanoTime,
      OwnershipDoubts doubts) {
    this.sessions = sessions;
    this.settings = settings;
    this.metrics = metrics;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.doubts = doubts;
  }

  /// @throws NullPointerException when a field is missing
  public void dispatch(NodeBroadcast frame, Answers answers) {
    metrics.broadcasts.increment();
    var now = clock.instant();
    boolean stale = FrameArrival.isStale(now, frame.answerBy());
    var run = new Run(frame.frame(), answers, settings.patience(now, frame.answerBy()));
    var letter = FrameArrival.letter(frame.letter());
    if (stale) {
      metrics.stale.increment();
      for (int target = 0; target < frame.devices().size(); target++) {
        run.ended(target, Result.TIMEOUT, null);
      }
      return;
    }
    Map<Loop, BroadcastLane.Part> parts = new HashMap<>();
    try {
      for (int target = 0; target < frame.devices().size(); target++) {
        try {
          find(frame, target, run, letter, parts);
        } catch (RuntimeException | Error bug) {
          LOG.error("event=broadcast_target_error target={}", target, bug);
          run.ended(target, Result.NOT_HERE, null);
        }
      }
    } finally {
      // Each of them counts as open until its lane has offered it.
      parts.forEach(this::add);
    }
  }

  private void find(
      NodeBroadcast frame,
      int target,
      Run run,
      Letter letter,
      Map<Loop, BroadcastLane.Part> parts) {
    long epoch = frame.epochs().get(target);
    var device = new DeviceKey(frame.app(), frame.devices().get(target));
    var session = sessions.find(device);
    if (session == null) {
      if (epoch > 0) {
        doubts.absent(device, epoch);
      }
      run.ended(target, Result.NOT_HERE, null);
    } else if (!Fencing.mayDeliver(epoch, session.epoch())) {
      doubts.doubt(session);
      run.ended(target, Result.NOT_HERE, null);
    } else if (metrics.openTargets.incrementAndGet() > settings.mostOpenTargets()) {
      metrics.openTargets.decrementAndGet();
      run.refused(target, Refusal.NODE_BUSY, null);
    } else {
      parts
          .computeIfAbsent(session.loop(), _ -> new BroadcastLane.Part(letter, run))
          .add(session, target, epoch);
    }
  }

  private void add(Loop loop, BroadcastLane.Part part) {
    var lane =
        lanes.computeIfAbsent(
            loop, some -> new BroadcastLane(some, settings.broadcastBytes(), metrics));
    loop.execute(() -> lane.add(part));
  }

  /// One frame, and who hears what becomes of it.
  final class Run {
    private final String frame;
    private final Answers answers;
    private final long arrivedNanos = nanoTime.getAsLong();
    final long answerByNanos;

    /// Whose turn has not come by then is not sent to any more.
    final long offeredByNanos;

    Run(String frame, Answers answers, Duration patience) {
      this.frame = frame;
      this.answers = answers;
      this.answerByNanos = arrivedNanos + patience.toNanos();
      this.offeredByNanos = Math.max(answerByNanos, arrivedNanos + OFFERED_AT_LEAST.toNanos());
    }

    void written() {
      metrics.written(nanoTime.getAsLong() - arrivedNanos);
    }

    void settled(int target, DeviceSession session, long epoch, Settlement settlement) {
      metrics.openTargets.decrementAndGet();
      switch (settlement) {
        case Settlement.Delivered(var lateAt) -> {
          if (Fencing.settles(epoch, session.epoch())) {
            metrics.outcome(Result.DELIVERED);
            if (lateAt == null) {
              answers.delivered(frame, target);
            } else {
              answers.answer(frame, Outcome.delivered(target, session.epoch(), lateAt));
            }
          } else {
            ended(target, Result.TIMEOUT, "fenced");
          }
        }
        case Settlement.NotHere() -> ended(target, Result.NOT_HERE, null);
        case Settlement.NotSubscribed() ->
            ended(target, Result.NOT_HERE, NodeOutcomes.NOT_SUBSCRIBED);
        // The gateway looks at the time to live before it does anything else, and finds it over.
        case Settlement.TimedOut(), Settlement.Expired() -> ended(target, Result.TIMEOUT, null);
        case Settlement.Refused(var why, var detail) -> refused(target, why, detail);
      }
    }

    private void refused(int target, Refusal why, @Nullable String detail) {
      metrics.outcome(Result.REFUSED);
      answers.answer(frame, Outcome.refused(target, why, detail));
    }

    private void ended(int target, Result result, @Nullable String reason) {
      metrics.outcome(result);
      answers.answer(frame, new Outcome(target, result, reason));
    }
  }
}
