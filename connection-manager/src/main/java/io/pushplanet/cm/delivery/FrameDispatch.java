package io.pushplanet.cm.delivery;

import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.session.SharedPublish;
import io.pushplanet.cm.transport.LoopTasks;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.Refusal;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Spreads a frame's targets over the event loops that hold their devices. Thread-safe; does not
/// block. Every target is answered exactly once, and a fault of one target does not affect the
/// others.
public final class FrameDispatch {
  private static final Logger LOG = LoggerFactory.getLogger(FrameDispatch.class);

  private final FrameTargets.Shared shared;

  public FrameDispatch(FrameTargets.Shared shared) {
    this.shared = shared;
  }

  public void dispatch(NodeFrame frame, Answers answers) {
    shared.metrics().frames.increment();
    var targets = new FrameTargets(frame.frame(), frame.answerBy(), answers, shared);
    if (targets.endStale(frame.targets().size())) {
      return;
    }
    List<SharedPublish> publishes = frame.messages().stream().map(FrameTargets::publish).toList();
    var offers = new LoopTasks();
    try {
      for (int target = 0; target < frame.targets().size(); target++) {
        try {
          find(frame.targets().get(target), target, publishes, targets, offers);
        } catch (RuntimeException | Error bug) {
          LOG.error("event=target_error target={}", target, bug);
          targets.notHere(target);
        }
      }
    } finally {
      // An admitted target counts as open until its session has been offered its message.
      offers.go();
    }
  }

  private static void find(
      NodeFrame.Target wanted,
      int target,
      List<SharedPublish> publishes,
      FrameTargets targets,
      LoopTasks offers) {
    if (wanted.message() < 0 || wanted.message() >= publishes.size()) {
      targets.refused(target, Refusal.NO_MESSAGE, null);
      return;
    }
    var device = new DeviceKey(wanted.app(), wanted.device());
    DeviceSession session = targets.admit(target, device, wanted.epoch());
    if (session != null) {
      var here = new Target(targets, target, session);
      SharedPublish publish = publishes.get(wanted.message());
      offers.add(session.loop(), () -> here.offer(publish));
    }
  }

  private static final class Target extends OpenTarget {
    private final FrameTargets targets;
    private final int position;
    private final DeviceSession session;

    Target(FrameTargets targets, int position, DeviceSession session) {
      this.targets = targets;
      this.position = position;
      this.session = session;
    }

    void offer(SharedPublish publish) {
      offer(session, new OutboundMessage(publish, targets.answerByNanos, this));
    }

    @Override
    public void written() {
      targets.written();
    }

    @Override
    void settled(Settlement settlement) {
      targets.settled(position, session, settlement);
    }
  }
}
