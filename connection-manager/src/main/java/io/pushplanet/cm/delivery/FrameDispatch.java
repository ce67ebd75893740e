package io.pushplanet.cm.delivery;

import io.pushplanet.cm.directory.OwnershipDoubts;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.Letter;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.transport.HandOver;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.Refusal;
import java.time.InstantSource;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Spreads a frame's targets over the event loops that hold their devices. Thread-safe; nobody waits. Every target is
/// answered exactly once, and what goes wrong with one of them is nothing to the others.
public final class FrameDispatch {
  private static final Logger LOG = LoggerFactory.getLogger(FrameDispatch.class);

  private final SessionTable sessions;
  private final DeliverySettings settings;
  private final DeliveryMetrics metrics;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final OwnershipDoubts doubts;

  /// A frame on its way to the loops.
  private record Run(
      NodeFrame frame,
      List<Letter> letters,
      long arrivedNanos,
      long answerByNanos,
      Answers answers) {}

  /// @param doubts told where gateways are wrong about who has a device, or this node is
  public FrameDispatch(
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

  public void dispatch(NodeFrame frame, Answers answers) {
    metrics.frames.increment();
    if (FrameArrival.isStale(clock.instant(), frame.answerBy())) {
      // Read by a node that stood still: the gateway has taken its targets elsewhere long ago.
      metrics.stale.increment();
      for (int index = 0; index < frame.targets().size(); index++) {
        answer(frame, index, Result.TIMEOUT, answers);
      }
      return;
    }
    var letters = frame.letters().stream().map(FrameArrival::letter).toList();
    long arrivedNanos = nanoTime.getAsLong();
    long answerByNanos =
        arrivedNanos + settings.patience(clock.instant(), frame.answerBy()).toNanos();
    var run = new Run(frame, letters, arrivedNanos, answerByNanos, answers);
    var found = new HandOver();
    try {
      for (int index = 0; index < frame.targets().size(); index++) {
        try {
          find(run, index, found);
        } catch (RuntimeException | Error bug) {
          LOG.error("event=target_error target={}", index, bug);
          answer(frame, index, Result.NOT_HERE, answers);
        }
      }
    } finally {
      // Each of them counts as open until it is offered.
      found.go();
    }
  }

  private void find(Run run, int index, HandOver found) {
    var frame = run.frame();
    var target = frame.targets().get(index);
    if (target.letter() < 0 || target.letter() >= run.letters().size()) {
      refuse(frame, index, Refusal.NO_LETTER, null, run.answers());
      return;
    }
    var device = new DeviceKey(target.app(), target.device());
    var session = sessions.find(device);
    if (session == null) {
      if (target.epoch() != null) {
        doubts.absent(device, target.epoch());
      }
      answer(frame, index, Result.NOT_HERE, run.answers());
      return;
    }
    if (!Fencing.mayDeliver(target.epoch(), session.epoch())) {
      doubts.doubt(session);
      answer(frame, index, Result.NOT_HERE, run.answers());
      return;
    }
    var here = new Target(run, index, session);
    if (metrics.openTargets.incrementAndGet() > settings.mostOpenTargets()) {
      metrics.openTargets.decrementAndGet();
      refuse(frame, index, Refusal.NODE_BUSY, null, run.answers());
      return;
    }
    var letter = run.letters().get(target.letter());
    found.add(session.loop(), () -> here.offer(letter));
  }

  /// One target of a frame, which hears what becomes of its message. Confined to its session's loop.
  private final class Target implements OutboundMessage.Origin {
    private final Run run;
    private final int position;
    private final DeviceSession session;
    private boolean answered;

    Target(Run run, int position, DeviceSession session) {
      this.run = run;
      this.position = position;
      this.session = session;
    }

    void offer(Letter letter) {
      var message = new OutboundMessage(letter, run.answerByNanos(), this);
      try {
        session.offer(message);
      } catch (RuntimeException | Error bug) {
        // The device may have it.
        settled(message, new Settlement.TimedOut());
        throw bug;
      }
    }

    @Override
    public void written() {
      metrics.written(nanoTime.getAsLong() - run.arrivedNanos());
    }

    @Override
    public void settled(OutboundMessage message, Settlement settlement) {
      if (!answered) {
        answered = true;
        metrics.openTargets.decrementAndGet();
        FrameDispatch.this.settled(
            run.frame(), position, session.epoch(), settlement, run.answers());
      }
    }
  }

  private void settled(
      NodeFrame frame, int target, long epoch, Settlement settlement, Answers answers) {
    switch (settlement) {
      case Settlement.Delivered(var lateAt) -> {
        metrics.outcome(Result.DELIVERED);
        answers.answer(frame.frame(), Outcome.delivered(target, epoch, lateAt));
      }
      case Settlement.NotHere() -> answer(frame, target, Result.NOT_HERE, answers);
      case Settlement.NotSubscribed() -> {
        metrics.outcome(Result.NOT_HERE);
        answers.answer(
            frame.frame(), new Outcome(target, Result.NOT_HERE, NodeOutcomes.NOT_SUBSCRIBED));
      }
      // The gateway looks at the time to live before it does anything else, and finds it over.
      case Settlement.TimedOut(), Settlement.Expired() ->
          answer(frame, target, Result.TIMEOUT, answers);
      case Settlement.Refused(var why, var detail) -> refuse(frame, target, why, detail, answers);
    }
  }

  private void answer(NodeFrame frame, int target, Result result, Answers answers) {
    metrics.outcome(result);
    answers.answer(frame.frame(), new Outcome(target, result, null));
  }

  private void refuse(
      NodeFrame frame, int target, Refusal why, @Nullable String detail, Answers answers) {
    metrics.outcome(Result.REFUSED);
    answers.answer(frame.frame(), Outcome.refused(target, why, detail));
  }
}
