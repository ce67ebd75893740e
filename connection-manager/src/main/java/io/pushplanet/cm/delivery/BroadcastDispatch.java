package io.pushplanet.cm.delivery;

import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SharedPublish;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.NodeBroadcast;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings one message to many devices of this node. It looks all their sessions up at once and
/// hands them to their loops, which send the message in slices ([BroadcastPacer]). Thread-safe;
/// does not block. Every device is answered exactly once.
public final class BroadcastDispatch {
  private static final Logger LOG = LoggerFactory.getLogger(BroadcastDispatch.class);

  private final FrameTargets.Shared shared;
  private final Map<Loop, BroadcastPacer> pacers = new ConcurrentHashMap<>();

  public BroadcastDispatch(FrameTargets.Shared shared) {
    this.shared = shared;
  }

  public void dispatch(NodeBroadcast frame, Answers answers) {
    shared.metrics().broadcasts.increment();
    var targets = new FrameTargets(frame.frame(), frame.answerBy(), answers, shared);
    SharedPublish publish = FrameTargets.publish(frame.message());
    if (targets.endStale(frame.devices().size())) {
      return;
    }
    Map<Loop, BroadcastPacer.Part> parts = new HashMap<>();
    try {
      for (int target = 0; target < frame.devices().size(); target++) {
        try {
          find(frame, target, publish, targets, parts);
        } catch (RuntimeException | Error bug) {
          LOG.error("event=broadcast_target_error target={}", target, bug);
          targets.notHere(target);
        }
      }
    } finally {
      // An admitted target counts as open until its pacer has offered it the message.
      parts.forEach(this::add);
    }
  }

  private static void find(
      NodeBroadcast frame,
      int target,
      SharedPublish publish,
      FrameTargets targets,
      Map<Loop, BroadcastPacer.Part> parts) {
    Long epoch = frame.epochs().get(target);
    var device = new DeviceKey(frame.app(), frame.devices().get(target));
    // A gateway that did not look sends 0.
    DeviceSession session = targets.admit(target, device, epoch == 0 ? null : epoch);
    if (session != null) {
      parts
          .computeIfAbsent(session.loop(), _ -> new BroadcastPacer.Part(publish, targets))
          .add(session, target, epoch);
    }
  }

  private void add(Loop loop, BroadcastPacer.Part part) {
    BroadcastPacer pacer =
        pacers.computeIfAbsent(
            loop,
            some -> new BroadcastPacer(some, shared.settings().broadcastBytes(), shared.metrics()));
    loop.execute(() -> pacer.add(part));
  }
}
